"""Errors as Daytona words them."""

from __future__ import annotations

import json

from aiohttp import web


def problem(status: int, message: str, code: str = "") -> web.HTTPException:
    kinds = {
        400: web.HTTPBadRequest,
        401: web.HTTPUnauthorized,
        403: web.HTTPForbidden,
        404: web.HTTPNotFound,
        408: web.HTTPRequestTimeout,
        409: web.HTTPConflict,
        429: web.HTTPTooManyRequests,
        500: web.HTTPInternalServerError,
        502: web.HTTPBadGateway,
        503: web.HTTPServiceUnavailable,
    }
    said = {"statusCode": status, "message": message, "error": message}
    if code:
        said |= {"code": code, "source": "DAYTONA_DAEMON"}
    return kinds[status](text=json.dumps(said), content_type="application/json")
