package cli

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/larder-data/larder/flow"
)

// display shows people how a run gets on.
type display interface {
	observe(flow.Event)
	// logger returns the logger to use while the display is open.
	logger(*slog.Logger) *slog.Logger
	close()
}

func newDisplay(mode string, w io.Writer) (display, error) {
	switch mode {
	case "none":
		return silent{}, nil
	case "plain":
		return newLines(w), nil
	case "auto":
		if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
			return newBars(w), nil
		}
		return newLines(w), nil
	}
	return nil, fmt.Errorf("--progress %q: must be auto, plain or none", mode)
}

type silent struct{}

func (silent) observe(flow.Event)                 {}
func (silent) logger(l *slog.Logger) *slog.Logger { return l }
func (silent) close()                             {}

// lines writes a line when a node starts on known work, and every few seconds
// while it lasts.
type lines struct {
	w    io.Writer
	last map[string]time.Time
	done map[string]bool
}

const lineInterval = 5 * time.Second

func newLines(w io.Writer) *lines {
	return &lines{w: w, last: map[string]time.Time{}, done: map[string]bool{}}
}

func (l *lines) logger(log *slog.Logger) *slog.Logger { return log }
func (l *lines) close()                               {}

func (l *lines) observe(e flow.Event) {
	switch {
	case e.Event == flow.NodeStarted:
		l.last[e.Node] = e.Time
	case e.Total == 0 || l.done[e.Node]:
	case e.Done == e.Total:
		l.done[e.Node] = true
		fmt.Fprintf(l.w, "%s: %d of %d\n", e.Node, e.Done, e.Total)
	case e.Event == flow.NodeProgress && e.Time.Sub(l.last[e.Node]) >= lineInterval:
		l.last[e.Node] = e.Time
		fmt.Fprintf(l.w, "%s: %d of %d\n", e.Node, e.Done, e.Total)
	}
}

// bars shows a bar for each node that goes through a known number of samples.
type bars struct {
	p   *mpb.Progress
	all map[string]*mpb.Bar
}

func newBars(w io.Writer) *bars {
	return &bars{p: mpb.New(mpb.WithOutput(w), mpb.WithWidth(40)), all: map[string]*mpb.Bar{}}
}

// logger writes above the bars, so that they are not torn.
func (b *bars) logger(*slog.Logger) *slog.Logger {
	a := app{stderr: b.p}
	return a.logger()
}

func (b *bars) observe(e flow.Event) {
	if e.Total == 0 {
		return
	}
	bar, ok := b.all[e.Node]
	if !ok {
		bar = b.p.AddBar(e.Total,
			mpb.PrependDecorators(decor.Name(e.Node, decor.WCSyncSpaceR), decor.CountersNoUnit("%d/%d", decor.WCSyncSpace)),
			mpb.AppendDecorators(decor.Percentage(decor.WC{W: 5}), decor.Elapsed(decor.ET_STYLE_GO, decor.WC{W: 6})))
		b.all[e.Node] = bar
	}
	bar.SetTotal(e.Total, false)
	bar.SetCurrent(e.Done)
	if e.Event == flow.NodeDone || e.Done == e.Total {
		bar.SetTotal(e.Total, e.Done == e.Total)
	}
}

func (b *bars) close() {
	for _, bar := range b.all {
		if !bar.Completed() {
			bar.Abort(false)
		}
	}
	b.p.Wait()
}
