"""The client before it speaks to anyone."""

import asyncio
import subprocess
import sys

import pytest

from hermes_jupyter.agent.models.client import OpenAIModel
from hermes_jupyter.errors import ConfigurationError, ModelError


@pytest.mark.parametrize("url", ["localhost:8080", "ftp://host/v1", "http://", "http://a b/v1"])
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(ConfigurationError, match="base_url"):
        OpenAIModel("m", base_url=url)


@pytest.mark.parametrize("key", ["sk-ключ", "sk-a\nb"])
def test_a_key_that_cannot_be_sent_is_refused_and_not_shown(key):
    with pytest.raises(ConfigurationError, match="API key") as caught:
        OpenAIModel("m", api_key=key)
    assert key not in str(caught.value)


def test_openai_without_a_key_is_not_even_asked():
    with pytest.raises(ModelError, match="OPENAI_API_KEY") as caught:
        asyncio.run(OpenAIModel("m").reply([], (), print))
    assert caught.value.kind == "auth"


def test_openai_is_not_imported_before_a_model_is_asked():
    """Loading the package in a kernel must not wait half a second for it."""
    code = "import sys, hermes_jupyter.agent.models.client; sys.exit('openai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
