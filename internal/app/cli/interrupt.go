package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/larder-data/larder/internal/fs/cleanup"
)

// How long a program that was told to stop a second time may still end by itself, and
// then clear away what it has begun.
const (
	graceToEnd   = time.Second
	graceToClear = time.Second / 2
)

// interruptible returns a context that ends at the first signal to stop, so that the
// program does. At a second one it has a second for that, and ends by the signal then,
// having cleared away what would be left behind; at a third it ends at once.
func interruptible(ctx context.Context) (_ context.Context, stop func()) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signals = append(signals, syscall.SIGHUP)
	}
	told := make(chan os.Signal, 2)
	signal.Notify(told, signals...)
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		for range 2 {
			select {
			case <-over:
				return
			case s := <-told:
				if ctx.Err() != nil {
					endSoon(s, told, over)
					return
				}
				cancel()
			}
		}
	}()
	return ctx, func() {
		signal.Stop(told)
		cancel()
		close(over)
	}
}

// endSoon ends the program by a signal, unless it is over before.
func endSoon(by os.Signal, told chan<- os.Signal, over <-chan struct{}) {
	signal.Stop(told)
	select {
	case <-over:
	case <-time.After(graceToEnd):
		cleanup.Clear(graceToClear)
		endBy(by)
		os.Exit(exitInterrupted)
	}
}
