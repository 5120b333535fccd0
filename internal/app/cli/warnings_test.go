package cli

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"

	"github.com/larder-data/larder/flow"
)

// TestWarningsAreLines checks that a warning is a human-readable line, and an event with
// the node.
func TestWarningsAreLines(t *testing.T) {
	for _, c := range []struct {
		say  func(*slog.Logger)
		want string
	}{
		{func(l *slog.Logger) {
			l.Warn("larder: results are computed but not cached", "error", errors.New("no space"))
		},
			"larder: warning: results are computed but not cached: no space\n"},
		{func(l *slog.Logger) {
			l.With("node", "in").Warn("files are passed over", "directory", "/a", "files", 2)
		}, "larder: warning: node in: files are passed over (directory /a, files 2)\n"},
		{func(l *slog.Logger) { l.Warn("waiting", slog.Group("by", "process", 7)) }, "larder: warning: waiting (by process 7)\n"},
		{func(l *slog.Logger) { l.WithGroup("g").Warn("a\x1b[2Jb\xff", "k", "\r") }, "larder: warning: a\\u001b[2Jb\\xff (g k \\u000d)\n"},
		{func(l *slog.Logger) { l.Info("nothing") }, ""},
	} {
		var out bytes.Buffer
		var event flow.Event
		c.say(slog.New(newWarnings(&out, func(e flow.Event) { event = e })))
		if out.String() != c.want {
			t.Errorf("%q\nwant %q", out.String(), c.want)
		}
		if c.want != "" && (event.Event != flow.Warning || event.Message == "" || event.Node == "" && bytes.Contains(out.Bytes(), []byte("node in"))) {
			t.Errorf("the event is %+v", event)
		}
	}
}
