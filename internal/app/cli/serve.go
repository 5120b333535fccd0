package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/internal/app/server"
	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/pool"
)

type serveFlags struct {
	socket  string
	idle    time.Duration
	workers int
	ahead   string
	status  bool
	json    bool
	metrics bool
	stop    bool
	listen  listenFlags
}

func (a *app) serveCommand() *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve batches and cached results to local programs",
		Long: `Listens on a socket in the user's runtime directory, and serves batches of the
nodes of flows to programs such as those that use the Python package larder, which
start the server when they need it. All readers of a cache directory share one
server, so a sample is decoded once for all of them.

The server ends after a time without clients. --status shows what the server of
the cache directory is doing, and --stop ends that server.`,
		Args: words(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case f.status && f.stop:
				return usageError{errors.New("give either --status or --stop, not both")}
			case (f.json || f.metrics) && !f.status:
				return usageError{errors.New("--json and --metrics require --status")}
			case f.idle < 0:
				return usageError{fmt.Errorf("--idle %v: must not be negative", f.idle)}
			case f.workers < 0:
				return usageError{fmt.Errorf("--workers %d: must not be negative", f.workers)}
			}
			if err := f.listen.check(c.Flags().Changed); err != nil {
				return usageError{err}
			}
			if f.listen.address != "" && !c.Flags().Changed("idle") {
				f.idle = 0
			}
			return a.serve(c.Context(), f)
		},
	}
	c.Flags().StringVar(&f.socket, "socket", "", "listen on this `file` (default: by cache directory and version of the program)")
	c.Flags().DurationVar(&f.idle, "idle", 5*time.Minute, "end after this time without clients; 0 means never")
	c.Flags().IntVar(&f.workers, "workers", 0, "concurrent samples of all readers (default: the number of processors)")
	c.Flags().StringVar(&f.ahead, "ahead", "256MiB", "memory of prefetched batches of all readers; each may have four batches")
	c.Flags().BoolVar(&f.status, "status", false, "show what the server is doing")
	c.Flags().BoolVar(&f.json, "json", false, "with --status: print JSON")
	c.Flags().BoolVar(&f.metrics, "metrics", false, "with --status: print metrics in the text format of Prometheus")
	c.Flags().BoolVar(&f.stop, "stop", false, "end the server after its clients have left")
	f.listen.flags(c)
	return c
}

func (a *app) serve(ctx context.Context, f serveFlags) (err error) {
	ahead, err := display.ParseSize(f.ahead)
	if err != nil || ahead == 0 {
		return usageError{fmt.Errorf("--ahead %s: must be a size such as 256MiB", f.ahead)}
	}
	dir, err := a.directory()
	if err != nil {
		return usageError{err}
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return failure{err}
	}
	if f.socket == "" {
		program, err := os.Executable()
		if err != nil {
			return failure{err}
		}
		if f.socket, err = server.Socket(dir, program); err != nil {
			return failure{err}
		}
	} else if f.socket, err = filepath.Abs(f.socket); err != nil {
		return failure{err}
	}
	switch {
	case f.stop:
		return a.stopServer(ctx, f.socket)
	case f.status:
		return a.serverStatus(ctx, f)
	}
	l, done, err := server.Listen(ctx, f.socket)
	if errors.Is(err, server.ErrServed) {
		fmt.Fprintln(a.stderr, "larder: a server listens at", f.socket, "already")
		return nil
	}
	if err != nil {
		return failure{err}
	}
	defer done()
	defer boundGarbage()()
	err = a.withLarder(larder.Options{}, func(ld *larder.Larder) error {
		s := server.New(server.Options{Larder: ld, Cache: dir, Version: thisVersion().String(), Idle: f.idle, Limits: a.limits.raise, Pool: pool.New(f.workers), Log: a.logger(), AheadBytes: ahead, Tidy: freeMemory()})
		if f.listen.address == "" {
			return s.Serve(ctx, l)
		}
		return a.serveRemote(ctx, s, l, f.listen)
	})
	_ = l.Close() // otherwise the server closes it
	return flowError(err)
}

func (a *app) stopServer(ctx context.Context, socket string) error {
	err := server.End(ctx, socket)
	if errors.Is(err, server.ErrNone) {
		fmt.Fprintln(a.stderr, "larder: no server listens at", socket)
		return nil
	}
	if err != nil {
		return failure{err}
	}
	return nil
}

func (a *app) serverStatus(ctx context.Context, f serveFlags) error {
	st, err := server.StatusOf(ctx, f.socket)
	if errors.Is(err, server.ErrNone) {
		return failure{fmt.Errorf("no server listens at %s", f.socket)}
	}
	if err != nil {
		return failure{err}
	}
	switch {
	case f.json:
		return writeJSON(a.stdout, st)
	case f.metrics:
		return written(st.WriteMetrics(a.stdout))
	}
	return written(writeServer(a.stdout, st, nil))
}
