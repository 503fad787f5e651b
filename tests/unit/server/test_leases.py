import pytest

from hermes_jupyter.server.leases import Leases, NoLease


class Kernels:
    def __init__(self):
        self.processes, self.now = {"k": (1,), "other": (2,)}, 0.0
        self.leases = Leases(self.processes.get, 60.0, lambda: self.now)

    def given(self, name="k"):
        lease = self.leases.proposed(name)
        self.leases.keep(lease)
        return lease.token


def test_a_token_is_of_one_kernel():
    kernels = Kernels()
    mine, others = kernels.given(), kernels.given("other")
    assert (kernels.leases.kernel_of(mine), kernels.leases.kernel_of(others)) == ("k", "other")


def test_a_token_that_no_kernel_has_taken_is_worth_nothing():
    kernels = Kernels()
    with pytest.raises(NoLease):
        kernels.leases.kernel_of(kernels.leases.proposed("k").token)


@pytest.mark.parametrize("token", ["", "hermes-lease-", "x" * 10_000, "\ud800"])
def test_no_other_text_is_a_token(token):
    kernels = Kernels()
    kernels.given()
    with pytest.raises(NoLease):
        kernels.leases.kernel_of(token)


def test_a_token_runs_out():
    kernels = Kernels()
    token = kernels.given()
    kernels.now = 61.0
    with pytest.raises(NoLease, match="run out"):
        kernels.leases.kernel_of(token)
    assert kernels.given() != token


def test_a_kernel_that_asks_in_time_keeps_its_token():
    kernels = Kernels()
    token = kernels.given()
    kernels.now = 50.0
    assert kernels.given() == token
    kernels.now = 100.0
    assert kernels.leases.kernel_of(token) == "k"


@pytest.mark.parametrize("process", [None, (3,)])
def test_a_token_ends_with_the_kernels_process(process):
    kernels = Kernels()
    token = kernels.given()
    kernels.processes["k"] = process
    with pytest.raises(NoLease, match="gone"):
        kernels.leases.kernel_of(token)


def test_a_kernel_that_is_not_there_gets_none():
    with pytest.raises(NoLease):
        Kernels().leases.proposed("gone")
