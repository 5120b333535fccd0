package embedproxy

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

// A requestError is an error of this server for a client.
type requestError struct {
	status  int
	message string
}

func (e *requestError) Error() string { return e.message }

// An upstreamError is a refusal by the upstream. It may concern the caller, so only
// that client sees it.
type upstreamError struct {
	status int
	header http.Header // clients get only those in answered
	body   []byte
}

func (e *upstreamError) Error() string { return "the upstream answered " + http.StatusText(e.status) }

// A callError is the error of a call of the upstream, and the request that made it.
type callError struct {
	by  *work
	err error
}

func (e *callError) Error() string { return e.err.Error() }
func (e *callError) Unwrap() error { return e.err }

// answered are the headers of an upstream's refusal that clients get.
var answered = []string{"Content-Type", "Retry-After", "Retry-After-Ms", "X-Should-Retry", "X-Request-Id", "Www-Authenticate"}

// writeError writes an error in the format of the API.
func writeError(w http.ResponseWriter, err error) {
	if refused, ok := errors.AsType[*upstreamError](err); ok {
		for _, name := range answered {
			if v := refused.header.Values(name); len(v) > 0 {
				w.Header()[name] = v
			}
		}
		w.WriteHeader(refused.status)
		_, _ = w.Write(refused.body) // otherwise the client has gone
		return
	}
	status, message := http.StatusInternalServerError, err.Error()
	if own, ok := errors.AsType[*requestError](err); ok {
		status, message = own.status, own.message
	}
	kind := "invalid_request_error"
	if status >= http.StatusInternalServerError {
		kind = "server_error"
	}
	text, _ := json.Marshal(map[string]any{"error": map[string]any{"message": strings.ToValidUTF8(message, "?"), "type": kind, "param": nil, "code": nil}})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n'))
}
