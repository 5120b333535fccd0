package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"

	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/internal/text/urlpath"
)

// warnings is a handler of log records that prints warnings, one line each, and
// passes them on as events:
//
//	larder: warning: node in: files are passed over (directory /a, files 2)
type warnings struct {
	to    *warningLines
	emit  func(flow.Event) // if not nil
	attrs []slog.Attr      // common to all records
	group string           // prefix of the names of attributes
}

// warningLines accepts lines from several goroutines.
type warningLines struct {
	mu sync.Mutex
	w  io.Writer
}

func newWarnings(w io.Writer, emit func(flow.Event)) warnings {
	return warnings{to: &warningLines{w: w}, emit: emit}
}

// Enabled implements slog.Handler.
func (warnings) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }

// Handle implements slog.Handler.
func (w warnings) Handle(_ context.Context, r slog.Record) error {
	message := warningText{text: display.Printable(display.WithoutPackages(r.Message))}
	for _, a := range w.attrs {
		message.add("", a)
	}
	r.Attrs(func(a slog.Attr) bool {
		message.add(w.group, a)
		return true
	})
	if w.emit != nil {
		w.emit(flow.Event{Time: r.Time, Event: flow.Warning, Node: message.node, Message: urlpath.Hide(message.String())})
	}
	line := message.String()
	if message.node != "" {
		line = "node " + message.node + ": " + line
	}
	w.to.mu.Lock()
	defer w.to.mu.Unlock()
	_, err := fmt.Fprintln(w.to.w, "larder: warning:", indentContinuations(urlpath.Hide(line)))
	return err
}

// warningText is a warning: its subject, the node, the reason and the rest.
type warningText struct {
	text, node, reason string
	more               []string
}

func (s *warningText) add(group string, a slog.Attr) {
	value := a.Value.Resolve()
	if value.Kind() == slog.KindGroup {
		for _, in := range value.Group() {
			s.add(strings.TrimSpace(group+" "+a.Key), in)
		}
		return
	}
	text := display.Printable(value.String())
	if value.Kind() == slog.KindString && strings.Contains(text, "\n") {
		text = display.Name(value.String())
	}
	if err, ok := value.Any().(error); ok {
		text = display.Error(err)
	}
	switch a.Key {
	case "node":
		s.node = text
	case "error", "err", "reason":
		s.reason = display.WithoutPackages(text)
	default:
		s.more = append(s.more, strings.TrimSpace(group+" "+a.Key+" "+text))
	}
}

func (s *warningText) String() string {
	text := s.text
	if len(s.more) > 0 {
		text += " (" + strings.Join(s.more, ", ") + ")"
	}
	if s.reason != "" {
		text += ": " + s.reason
	}
	return text
}

// WithAttrs implements slog.Handler.
func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	w.attrs = append(w.attrs[:len(w.attrs):len(w.attrs)], attrs...)
	return w
}

// WithGroup implements slog.Handler.
func (w warnings) WithGroup(name string) slog.Handler {
	w.group = strings.TrimSpace(w.group + " " + name)
	return w
}
