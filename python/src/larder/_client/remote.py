"""Connect to servers on other machines: addresses, requests, credentials."""

from __future__ import annotations

import functools
import http.client
import ipaddress
import os
import platform
import random
import re
import secrets
import socket
import ssl
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from ..errors import RequestError, ServerError
from .framing import Lost
from .url import CertificateArgument, TokenArgument

CONNECTING = 20.0
"""The maximum time to connect to a machine, in seconds."""
SILENCE = 60.0
"""The maximum time without data from a server, in seconds; it sends a sign of life every 15."""
TRIES = 12
"""How many times in a row a connection to a known server may be lost: half a minute."""
FIRST_TRIES = 3
"""How many times a server that was never reached is tried."""

_tokens: dict[str, str] = {}
"""The tokens passed to this process; pickles have only their numbers."""


class Secret:
    """A token that no string representation shows, and that stays in this process when it is pickled."""

    __slots__ = ("_number",)

    def __init__(self, value: str) -> None:
        self._number = secrets.token_hex(16)
        _tokens[self._number] = value

    def value(self) -> str | None:
        """Return the token; None in another process."""
        return _tokens.get(self._number)

    def __repr__(self) -> str:
        return "<a token>"

    def __getstate__(self) -> str:
        return self._number

    def __setstate__(self, number: str) -> None:
        self._number = number


@dataclass(frozen=True)
class Remote:
    """A server on another machine, and the client's credentials for it."""

    secure: bool
    host: str
    port: int
    flow: str
    """The path of a flow in the server's flow directory."""
    token: Secret | str | None = field(repr=False)
    """The given token, or the path of a file; the environment has it otherwise."""
    ca: str | None
    certificate: tuple[str, str | None] | None

    @property
    def name(self) -> str:
        """The name in messages."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.secure else 'http'}://{host}:{self.port}"

    def pause(self, losses: int) -> float:
        """Return how long to wait after a number of losses, with a random part so that clients spread out."""
        if losses <= 1:
            return 0.0
        return float(min(0.1 * 2 ** (losses - 2), 5.0) * (0.5 + random.random()))

    def tries(self, known: bool) -> int:
        """Return how many times in a row it may be lost, depending on whether it was reached before."""
        return TRIES if known else FIRST_TRIES

    def connection(self) -> http.client.HTTPConnection:
        """Return a connection that is not established yet."""
        if not self.secure:
            return http.client.HTTPConnection(self.host, self.port, timeout=CONNECTING)
        return http.client.HTTPSConnection(self.host, self.port, timeout=CONNECTING, context=self._context())

    def connect(self, connection: http.client.HTTPConnection) -> None:
        """Establish a connection; raise `Lost` for what can be tried again."""
        try:
            connection.connect()
        except ssl.SSLCertVerificationError as error:
            raise ServerError(
                f"{self.name}: its certificate is not trusted: {error.verify_message}; "
                "name the file of its authority by ca="
            ) from None
        except (ssl.SSLEOFError, ssl.SSLZeroReturnError) as error:
            raise Lost(str(error)) from error
        except ssl.SSLError as error:
            raise self._no_tls(error) from error
        except OSError as error:
            raise Lost(str(error)) from error
        connection.sock.settimeout(SILENCE)
        connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    def post(self, connection: http.client.HTTPConnection, path: str, body: bytes) -> http.client.HTTPResponse:
        """Post a request over an established connection; return the reply before anything of it is read."""
        token = self._token()
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/vnd.larder.frames",
            "User-Agent": f"larder for Python {platform.python_version()}",
        }
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        try:
            connection.request("POST", path, body, headers)
            reply = connection.getresponse()
        except (ssl.SSLEOFError, ssl.SSLZeroReturnError) as error:
            raise Lost(str(error)) from error
        except ssl.SSLError as error:
            raise self._no_tls(error) from error
        except (OSError, http.client.HTTPException) as error:
            raise Lost(str(error) or type(error).__name__) from error
        if reply.status != 200:
            with reply:
                raise self._refusal(reply, token)
        return reply

    def _context(self) -> ssl.SSLContext:
        return _context(self.ca, self.certificate)

    def _no_tls(self, error: ssl.SSLError) -> ServerError:
        return ServerError(
            f"{self.name} and this client do not agree on TLS: {error.reason or error}; does the server want "
            "a certificate of an authority of its own (certificate=), and has it one itself (--tls-cert)?"
        )

    def _refusal(self, reply: http.client.HTTPResponse, token: str | None) -> Exception:
        try:
            text = reply.read(300).decode("utf-8", "replace").strip()
        except (OSError, http.client.HTTPException) as error:
            return Lost(str(error))
        if reply.status == 401:
            return ServerError(f"{self.name} refuses this client: {self._cure(token)}")
        if reply.status in (429, 502, 503, 504):
            return Lost(f"status {reply.status}")
        if token:
            text = text.replace(token, "...")
        return ServerError(
            f"{self.name} answered with status {reply.status}: {text}; is that a larder serve --listen of this version?"
        )

    def _cure(self, token: str | None) -> str:
        if token is not None:
            return "it has another token"
        if isinstance(self.token, Secret):
            return "the token stayed in the process that was given it; set LARDER_TOKEN, or give token= a Path"
        return "give its token by token= or LARDER_TOKEN, or a certificate that it trusts by certificate="

    def _token(self) -> str | None:
        value: str | None
        if isinstance(self.token, str):
            try:
                with open(self.token, encoding="utf-8") as file:
                    value = file.read().strip()
            except (OSError, UnicodeDecodeError) as error:
                raise RequestError(f"the token cannot be read: {error}") from None
        else:
            value = self.token.value() if self.token is not None else None
            value = value or os.environ.get("LARDER_TOKEN") or None
        if value is not None and not re.fullmatch(r"[\x20-\x7e]+", value):
            raise RequestError(
                "the token has characters that no token can have; those are letters, digits and signs of ASCII"
            )
        return value


def _context(ca: str | None, certificate: tuple[str, str | None] | None) -> ssl.SSLContext:
    """Return the TLS context: the trusted authority, or those of the system, and the client certificate."""
    try:
        if ca is not None and os.path.isdir(ca):
            context = ssl.create_default_context(capath=ca)
        else:
            context = ssl.create_default_context(cafile=ca)
    except OSError as error:
        raise RequestError(f"ca: {ca} cannot be read: {_reason(error)}") from None
    if certificate is not None:
        try:
            context.load_cert_chain(*certificate, password=_no_password)
        except OSError as error:
            raise RequestError(f"certificate: {certificate[0]} cannot be read: {_reason(error)}") from None
    return context


def _reason(error: OSError) -> str:
    return error.strerror or str(error) or "it has no certificate, or no key that fits, in PEM"


def _no_password() -> str:
    raise RequestError("certificate: the key has a password; use a key without one, in a file that only you can read")


def at(
    url: str,
    token: TokenArgument | None,
    ca: str | os.PathLike[str] | None,
    certificate: CertificateArgument | None,
    cleartext: bool,
) -> Remote:
    """Return the server that a flow's URL names."""
    remote = Remote(*_place(url), _given(token), _path(ca), _certificate(certificate))
    if not remote.secure and not (cleartext or _loopback(remote.host)):
        raise RequestError(
            f"{remote.name}: without TLS the token and the data can be read by anyone on the network; "
            "use https://, or give cleartext=True"
        )
    if not remote.secure and (remote.ca or remote.certificate):
        raise RequestError(f"{remote.name}: certificates require https://")
    return remote


def _place(url: str) -> tuple[bool, str, int, str]:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise RequestError(f"the URL of the flow: {error}") from None
    if "@" in parts.netloc:
        raise RequestError("the URL of the flow must not have a user or password; give token=")
    secure = parts.scheme == "https"
    flow = unquote(parts.path.lstrip("/"))
    if not host or not flow or parts.query or parts.fragment:
        raise RequestError(
            f"{parts.scheme}://{parts.netloc}{parts.path} names no flow; give https://HOST:PORT/FLOW.yaml"
        )
    return secure, host, port or (443 if secure else 80), flow


def _given(token: TokenArgument | None) -> Secret | str | None:
    if token is None:
        return None
    return Secret(token) if isinstance(token, str) else os.path.abspath(os.fspath(token))


def _path(path: str | os.PathLike[str] | None) -> str | None:
    return None if path is None else os.path.abspath(os.fspath(path))


def _certificate(given: CertificateArgument | None) -> tuple[str, str | None] | None:
    if given is None:
        return None
    if isinstance(given, tuple):
        return os.path.abspath(os.fspath(given[0])), os.path.abspath(os.fspath(given[1]))
    return os.path.abspath(os.fspath(given)), None


@functools.cache
def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
