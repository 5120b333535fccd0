package embedproxy

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// models passes a request about models to the upstream. The answer is not cached.
func (h *Handler) models(w http.ResponseWriter, r *http.Request) {
	leave, err := h.enter(r)
	if err != nil {
		writeError(w, err)
		return
	}
	defer leave()
	path := "/models"
	if id := r.PathValue("id"); slices.Contains(strings.Split(id, "/"), "..") {
		writeError(w, &requestError{http.StatusBadRequest, "no model is called so"})
		return
	} else if id != "" {
		path = (&url.URL{Path: "/models/" + id}).EscapedPath()
	}
	a, err := h.upstream.list(r.Context(), path, h.credentials(r))
	if err != nil {
		writeError(w, err)
		return
	}
	w.Header().Set("Content-Type", a.header.Get("Content-Type"))
	_, _ = w.Write(a.body) // otherwise the client has gone
}
