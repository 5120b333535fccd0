package process

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/larder-data/larder/internal/text/display"
)

// A Tail holds the last bytes written to it. Its zero value is ready to use.
type Tail struct{ b []byte }

const (
	maxBytes = 2000
	maxLines = 30

	shownBytes = 60 // shown of binary data
)

var _ io.Writer = (*Tail)(nil)

// Write never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if len(t.b) > 2*maxBytes {
		t.b = append(t.b[:0], t.b[len(t.b)-maxBytes:]...)
	}
	return len(p), nil
}

// String returns the last lines as the continuation of an error message.
func (t *Tail) String() string {
	text := bytes.TrimSpace(t.b[max(0, len(t.b)-maxBytes):])
	if len(text) == 0 {
		return " (nothing on stderr)"
	}
	if !utf8.Valid(bytes.TrimLeftFunc(text, func(r rune) bool { return r == utf8.RuneError })) {
		return "; its stderr is not text, and ends:  " + display.Short(string(text[max(0, len(text)-shownBytes):]))
	}
	lines := strings.Split(string(text), "\n")
	end := lines[max(0, len(lines)-maxLines):]
	return "; its stderr ends:\n    " + strings.Join(end, "\n    ")
}
