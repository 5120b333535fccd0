package http_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/larder-data/larder/objectstore"
)

// answers opens a file of seven bytes on a server, and reads two bytes from its fourth on.
func answers(t *testing.T, answer http.HandlerFunc) (*objectstore.File, string, error) {
	t.Helper()
	s := httptest.NewServer(answer)
	defer s.Close()
	f, err := objectstore.Open(t.Context(), s.URL+"/a")
	if err != nil {
		return nil, "", err
	}
	b := make([]byte, 2)
	err = f.ReadAt(t.Context(), b, 3)
	return f, string(b), err
}

// part sends the requested part of "content", with a Content-Range in the given format.
func part(w http.ResponseWriter, r *http.Request, format string) {
	var first, last int
	if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &first, &last); err != nil {
		panic(err)
	}
	w.Header().Set("Etag", `"1"`)
	if format != "" {
		w.Header().Set("Content-Range", fmt.Sprintf(format, first, last))
	}
	w.WriteHeader(http.StatusPartialContent)
	_, _ = io.WriteString(w, "content"[first:last+1])
}

// TestAnswers checks that several spellings of ranges are accepted, and that missing parts are reported.
func TestAnswers(t *testing.T) {
	for _, format := range []string{"bytes %d-%d/7", "Bytes  %d-%d/7", " bytes %d-%d / 7"} {
		if f, b, err := answers(t, func(w http.ResponseWriter, r *http.Request) { part(w, r, format) }); err != nil || b != "te" || f.Size != 7 {
			t.Errorf("%q: %q, %v", format, b, err)
		}
	}
	n := 0
	_, b, err := answers(t, func(w http.ResponseWriter, r *http.Request) {
		if n++; n == 1 {
			part(w, r, "bytes %d-%d/7")
			return
		}
		part(w, r, "bytes %d-%d/*")
	})
	if err != nil || b != "te" {
		t.Errorf("%q, %v", b, err)
	}
	for format, want := range map[string]string{"": "without Content-Range", "bytes %d-%d/*": "does not send the size"} {
		if _, _, err := answers(t, func(w http.ResponseWriter, r *http.Request) { part(w, r, format) }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", format, err)
		}
	}
}

// TestWithoutLength checks that the size of a small file sent whole without its size is counted.
func TestWithoutLength(t *testing.T) {
	of := func(size int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Etag", `"1"`)
			_, _ = io.WriteString(w, "cont")
			w.(http.Flusher).Flush() // sends it in chunks
			_, _ = io.WriteString(w, "ent"+strings.Repeat(" ", size-7))
		}
	}
	if f, b, err := answers(t, of(7)); err != nil || b != "te" || f.Size != 7 || !f.Whole {
		t.Errorf("%q, %v", b, err)
	}
	if _, _, err := answers(t, of(17<<20)); err == nil || !strings.Contains(err.Error(), "does not send the size") {
		t.Errorf("%v", err)
	}
}

// TestClocks checks that, without the server's time, this machine's clock decides whether a file is
// old enough to be trusted.
func TestClocks(t *testing.T) {
	for ago, want := range map[time.Duration]bool{time.Hour: false, 24 * time.Hour: true, -24 * time.Hour: false} {
		f, _, err := answers(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Date"] = nil
			w.Header().Set("Last-Modified", time.Now().Add(-ago).UTC().Format(http.TimeFormat))
			part(w, r, "bytes %d-%d/7")
		})
		if err != nil || f.Firm != want {
			t.Errorf("%v ago: %v, %v", ago, f, err)
		}
	}
}

// TestLocation checks that an invalid redirect URL is not quoted.
func TestLocation(t *testing.T) {
	for _, to := range []string{"http://cdn.example/%zz?X-Amz-Signature=hunter2", "/%zz?hunter2", "http://u:hunter2@h:x/"} {
		_, _, err := answers(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		})
		if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "sends on") {
			t.Errorf("%q: %v", to, err)
		}
	}
}
