package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/larder-data/larder/flow"
)

// Control sequences of xterm and all later terminals. On the alternate screen
// lines are cut at the edge, in case one is wider than computed.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J"
	leaveScreen = "\x1b[?7h\x1b[?25h\x1b[?1049l"
	clearScreen = "\x1b[2J"
	home        = "\x1b[1;1H"
)

// redrawInterval limits the screen to ten drawings a second. Each drawing also
// reads the size of the terminal, so it notices every change.
const redrawInterval = 100 * time.Millisecond

// maxWarnings is the number of stored warnings.
const maxWarnings = 100

// screen shows a run on the alternate screen of a terminal, so that its old
// content reappears afterwards. Warnings during the run are then written below
// it.
type screen struct {
	w     io.Writer
	size  func() (width, height int)
	color bool
	guard *terminalGuard

	mu       sync.Mutex // of the fields below; never held while writing to the terminal
	tracker  *tracker
	warnings []string // to write at the end
	left     int      // number of earlier, dropped lines
	closed   bool

	shown         []string // current content of the screen
	width, height int

	once       sync.Once
	quit, done chan struct{}
}

// newScreen takes the terminal until close is called or ctx ends.
func newScreen(ctx context.Context, f *os.File, t *tracker) *screen {
	s := &screen{
		w: f, tracker: t, color: os.Getenv("NO_COLOR") == "", guard: newGuard(f),
		size: func() (int, int) {
			w, h, err := term.GetSize(int(f.Fd()))
			if err != nil || w <= 0 || h <= 0 {
				return 80, 24
			}
			return w, h
		},
	}
	s.open(ctx)
	return s
}

func (s *screen) open(ctx context.Context) {
	s.quit, s.done = make(chan struct{}), make(chan struct{})
	fmt.Fprint(s.w, enterScreen)
	go func() {
		defer close(s.done)
		tick := time.NewTicker(redrawInterval)
		defer tick.Stop()
		for {
			s.draw(time.Now())
			select {
			case <-tick.C:
			case <-s.quit:
				return
			}
		}
	}()
	// At the first Ctrl-C, because the second one may end the program.
	context.AfterFunc(ctx, s.close)
}

func (s *screen) observe(e flow.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tracker.observe(e)
}

// log receives the lines for the terminal.
func (s *screen) log() io.Writer { return (*screenLog)(s) }

type screenLog screen

func (s *screenLog) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.w.Write(p)
	}
	s.tracker.note(string(p))
	s.warnings = append(s.warnings, string(p))
	if over := len(s.warnings) - maxWarnings; over > 0 {
		s.warnings = slices.Delete(s.warnings, 0, over)
		s.left += over
	}
	return len(p), nil
}

// draw writes the lines that changed.
func (s *screen) draw(now time.Time) {
	width, height := s.size()
	s.mu.Lock()
	lines := s.tracker.lines(now, width, height, s.color)
	s.mu.Unlock()
	var b strings.Builder
	if width != s.width || height != s.height {
		b.WriteString(clearScreen)
		s.width, s.height, s.shown = width, height, nil
	}
	for i := range max(len(lines), len(s.shown)) {
		var line, before string
		if i < len(lines) {
			line = lines[i]
		}
		if i < len(s.shown) {
			before = s.shown[i]
		}
		if line != before {
			fmt.Fprintf(&b, "\x1b[%d;1H\x1b[K%s", i+1, line)
		}
	}
	s.shown = lines
	if b.Len() > 0 {
		fmt.Fprint(s.w, b.String()+home)
	}
}

// close restores the terminal. It may be called more than once.
func (s *screen) close() {
	s.once.Do(func() {
		close(s.quit)
		<-s.done
		fmt.Fprint(s.w, leaveScreen)
		s.guard.release()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.closed = true
		if s.left > 0 {
			fmt.Fprintf(s.w, "(%d earlier warnings omitted)\n", s.left)
		}
		fmt.Fprint(s.w, strings.Join(s.warnings, ""))
	})
}

// A terminalGuard is a small process that restores the terminal if this one
// dies of something that it cannot catch, such as a panic in any goroutine or
// SIGKILL. It repeats the message of a panic, which would otherwise vanish with
// the alternate screen.
type terminalGuard struct {
	pipe io.WriteCloser
	cmd  *exec.Cmd
}

// guardScript reads everything that this process writes, which is "end" on
// success. It ignores Ctrl-C, which also reaches the guard and must not end it
// before this process.
const guardScript = `trap '' INT QUIT TERM HUP; said=$(cat); [ "$said" = end ] || printf '%s%s\n' "$0" "$said" >&2`

// newGuard returns nil where there cannot be one.
func newGuard(terminal *os.File) *terminalGuard {
	r, w, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer r.Close()
	cmd := exec.CommandContext(context.Background(), "/bin/sh", "-c", guardScript, leaveScreen)
	cmd.Stdin, cmd.Stderr = r, terminal
	if err := cmd.Start(); err != nil {
		w.Close()
		return nil
	}
	_ = debug.SetCrashOutput(w, debug.CrashOptions{})
	return &terminalGuard{w, cmd}
}

func (g *terminalGuard) release() {
	if g == nil {
		return
	}
	_ = debug.SetCrashOutput(nil, debug.CrashOptions{})
	fmt.Fprint(g.pipe, "end")
	g.pipe.Close()
	_ = g.cmd.Wait() // its error does not matter
}
