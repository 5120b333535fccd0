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
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/internal/app/server"
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
		Short: "Make batches for programs of this user and machine",
		Long: `Listens at a socket in the user's runtime folder, and makes batches of the nodes
of flows for the programs that connect, such as those that use the package larder
of Python. These start it by themselves. One server has all readers of a cache
folder, so what one of them has decoded the others need not.

It ends when nobody has been connected for a while. With --status it says what
the server of the cache folder is doing, and with --stop it has that one end.`,
		Args: words(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case f.status && f.stop:
				return usageError{errors.New("--status and --stop do not go together")}
			case (f.json || f.metrics) && !f.status:
				return usageError{errors.New("--json and --metrics go with --status")}
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
	c.Flags().StringVar(&f.socket, "socket", "", "listen at this `file` (default: the one of the cache folder and this program)")
	c.Flags().DurationVar(&f.idle, "idle", 5*time.Minute, "end when nobody has been connected for so long; 0 is never")
	c.Flags().IntVar(&f.workers, "workers", 0, "samples at once, for all readers together (default: the number of processors)")
	c.Flags().StringVar(&f.ahead, "ahead", "256MiB", "memory of batches for all readers together; each may have four")
	c.Flags().BoolVar(&f.status, "status", false, "say what the server is doing")
	c.Flags().BoolVar(&f.json, "json", false, "with --status: print JSON")
	c.Flags().BoolVar(&f.metrics, "metrics", false, "with --status: print metrics in the text format of Prometheus")
	c.Flags().BoolVar(&f.stop, "stop", false, "have the server end when those who are connected have left")
	f.listen.flags(c)
	return c
}

func (a *app) serve(ctx context.Context, f serveFlags) (err error) {
	ahead, err := flow.ParseBytes(f.ahead)
	if err != nil || ahead == 0 {
		return usageError{fmt.Errorf("--ahead %s: must be a size such as 256MiB", f.ahead)}
	}
	dir, err := a.folder()
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
