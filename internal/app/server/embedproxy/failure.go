package embedproxy

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

// A requestError is what this server itself has to say to a client.
type requestError struct {
	status  int
	message string
}

func (e *requestError) Error() string { return e.message }

// An upstreamError is the answer of an upstream that refused. It may be about who
// called: only that client sees it.
type upstreamError struct {
	status int
	header http.Header // of which kept are some
	body   []byte
}

func (e *upstreamError) Error() string { return "the upstream answered " + http.StatusText(e.status) }

// A callError is why a call of the upstream failed, and whose call it was.
type callError struct {
	by  *work
	err error
}

func (e *callError) Error() string { return e.err.Error() }
func (e *callError) Unwrap() error { return e.err }

// answered are the headers of an upstream's refusal that clients see.
var answered = []string{"Content-Type", "Retry-After", "Retry-After-Ms", "X-Should-Retry", "X-Request-Id", "Www-Authenticate"}

// writeError answers with an error, in the form that clients of the API read.
func writeError(w http.ResponseWriter, err error) {
	if refused, ok := errors.AsType[*upstreamError](err); ok {
		for _, name := range answered {
			if v := refused.header.Values(name); len(v) > 0 {
				w.Header()[name] = v
			}
		}
		w.WriteHeader(refused.status)
		_, _ = w.Write(refused.body) // else the client has gone
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
