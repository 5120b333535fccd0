package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/larder-data/larder/flow"
)

// progressDisplay shows the user the progress of a run.
type progressDisplay interface {
	observe(flow.Event)
	// log is the writer for all other human-readable output, before and after
	// close.
	log() io.Writer
	// close may be called more than once.
	close()
}

// terminalOf returns the terminal that w writes to, if any.
func terminalOf(w io.Writer) (*os.File, bool) {
	if c, ok := w.(*checked); ok {
		w = c.Writer
	}
	f, ok := w.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

// newDisplay shows the state of t. A display that uses the whole terminal is
// closed at the latest when ctx ends.
func newDisplay(ctx context.Context, mode string, w io.Writer, t *tracker) (progressDisplay, error) {
	terminal, ok := terminalOf(w)
	switch {
	case mode == "none":
		return silent{w}, nil
	case mode == "full" && ok:
		return newScreen(ctx, terminal, t), nil
	case mode == "auto" && ok:
		return newBars(w), nil
	case mode == "full":
		fmt.Fprintln(w, "--progress full: stderr is not a terminal; printing lines instead")
		return newLines(w), nil
	case mode == "plain" || mode == "auto":
		return newLines(w), nil
	}
	return nil, fmt.Errorf("--progress %q: must be auto, full, plain or none", mode)
}

type silent struct{ w io.Writer }

func (silent) observe(flow.Event) {}
func (s silent) log() io.Writer   { return s.w }
func (silent) close()             {}

// lines writes a line when a node starts on known work, and every few seconds
// during that work.
type lines struct {
	w    io.Writer
	last map[string]time.Time
	done map[string]bool
}

const lineInterval = 5 * time.Second

func newLines(w io.Writer) *lines {
	return &lines{w: w, last: map[string]time.Time{}, done: map[string]bool{}}
}

func (l *lines) log() io.Writer { return l.w }
func (l *lines) close()         {}

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

// bars shows a bar for each node with a known number of samples, and a count
// for each other node that returns samples.
type bars struct {
	w    io.Writer
	p    *mpb.Progress
	all  map[string]*bar
	once sync.Once
}

// bar is the display of a node.
type bar struct {
	*mpb.Bar
	total int64 // 0 for a count
}

func newBars(w io.Writer) *bars {
	return &bars{w: w, p: mpb.New(mpb.WithOutput(w), mpb.WithWidth(40)), all: map[string]*bar{}}
}

// log writes above the bars, so that lines and bars do not mix.
func (b *bars) log() io.Writer { return (*barsLog)(b) }

type barsLog bars

func (b *barsLog) Write(p []byte) (int, error) {
	n, err := b.p.Write(p)
	if errors.Is(err, mpb.ErrDone) {
		return b.w.Write(p)
	}
	return n, err
}

func (b *bars) observe(e flow.Event) {
	have := b.all[e.Node]
	switch {
	case e.Total == 0 && e.Done == 0:
		return
	case have != nil && have.total == 0 && e.Total > 0: // the total is now known
		have.Abort(true)
		have = nil
	}
	if have == nil {
		have = b.add(e)
		b.all[e.Node] = have
	}
	over := e.Done == e.Total || e.Total == 0 && e.Event == flow.NodeDone
	have.SetTotal(max(e.Total, e.Done), false)
	have.SetCurrent(e.Done)
	have.SetTotal(max(e.Total, e.Done), over)
}

func (b *bars) add(e flow.Event) *bar {
	style, counts, percent := mpb.BarFillerBuilder(mpb.BarStyle()), decor.CountersNoUnit("%d/%d", decor.WCSyncSpace), decor.Percentage(decor.WC{W: 5})
	if e.Total == 0 {
		style, counts, percent = mpb.NopStyle(), decor.CurrentNoUnit("%d", decor.WCSyncSpace), decor.Name("", decor.WC{W: 5})
	}
	return &bar{b.p.New(e.Total, style,
		mpb.PrependDecorators(decor.Name(e.Node, decor.WCSyncSpaceR), counts),
		mpb.AppendDecorators(percent, decor.Elapsed(decor.ET_STYLE_GO, decor.WC{W: 6}))), e.Total}
}

func (b *bars) close() {
	b.once.Do(func() {
		for _, bar := range b.all {
			if !bar.Completed() {
				bar.Abort(false)
			}
		}
		b.p.Wait()
	})
}
