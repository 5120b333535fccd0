package embedproxy

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// tokenHeader is the header for the token of clients, because Authorization is for
// the upstream.
const tokenHeader = "X-Larder-Token"

// passedOn are the headers that reach the upstream: the credentials of the caller.
// Other headers are dropped. Anything that could change a result is a member of the
// body, which keys cover.
var passedOn = []string{"Authorization", "Api-Key", "X-Api-Key", "OpenAI-Organization", "OpenAI-Project"}

// guarded refuses requests that are not authorised.
func (h *Handler) guarded(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case h.o.Local && !isLocal(r.Host):
			writeError(w, &requestError{http.StatusForbidden, "this server is for programs of its own machine: name it by localhost or 127.0.0.1"})
		case !h.lets(r):
			message := "a token is needed (" + tokenHeader + ": ...)"
			if h.o.UpstreamKey != "" {
				message = "a token is needed (Authorization: Bearer ...)"
			}
			w.Header().Set("WWW-Authenticate", "Bearer")
			writeError(w, &requestError{http.StatusUnauthorized, message})
		case r.URL.RawQuery != "":
			writeError(w, &requestError{http.StatusBadRequest, "a query is not passed on to the upstream: leave out what follows the ? in the URL"})
		default:
			next(w, r)
		}
	}
}

// isLocal reports whether a host, optionally with a port, is a name of this
// machine.
func isLocal(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && addr.IsLoopback() || strings.EqualFold(host, "localhost")
}

// lets reports whether a client is authorised.
func (h *Handler) lets(r *http.Request) bool {
	if h.o.Token == "" {
		return true
	}
	given := r.Header.Get(tokenHeader)
	if given == "" && h.o.UpstreamKey != "" {
		given = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(h.o.Token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// credentials returns the headers that identify the caller to the upstream.
func (h *Handler) credentials(r *http.Request) http.Header {
	if h.o.UpstreamKey != "" {
		return http.Header{"Authorization": {"Bearer " + h.o.UpstreamKey}}
	}
	passed := http.Header{}
	for _, name := range passedOn {
		if v := r.Header.Values(name); len(v) > 0 {
			passed[http.CanonicalHeaderKey(name)] = v
		}
	}
	return passed
}
