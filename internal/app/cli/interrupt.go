package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/larder-data/larder/internal/fs/cleanup"
)

// Time limits after a second signal: for the program to end normally, and then
// to remove temporary files.
const (
	graceToEnd   = time.Second
	graceToClear = time.Second / 2
)

// interruptible returns a context that ends at the first signal to stop, so
// that the program can end. After a second signal the program has one second,
// and then removes its temporary files and ends by the signal. After a third it
// ends immediately.
func interruptible(ctx context.Context) (_ context.Context, stop func()) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		signals = append(signals, syscall.SIGHUP)
	}
	notified := make(chan os.Signal, 2)
	signal.Notify(notified, signals...)
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		for range 2 {
			select {
			case <-over:
				return
			case s := <-notified:
				if ctx.Err() != nil {
					endSoon(s, notified, over)
					return
				}
				cancel()
			}
		}
	}()
	return ctx, func() {
		signal.Stop(notified)
		cancel()
		close(over)
	}
}

// endSoon ends the program by a signal, unless it has ended before.
func endSoon(by os.Signal, signals chan<- os.Signal, over <-chan struct{}) {
	signal.Stop(signals)
	select {
	case <-over:
	case <-time.After(graceToEnd):
		cleanup.Clear(graceToClear)
		endBy(by)
		os.Exit(exitInterrupted)
	}
}
