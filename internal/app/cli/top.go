package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder/internal/app/server"
	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/loader"
)

func (a *app) topCommand() *cobra.Command {
	var every time.Duration
	c := &cobra.Command{
		Use:   "top",
		Short: "Show what your servers are doing",
		Long: `Shows all servers of this user: their readers, the bottleneck of each reader, and
the actual and predicted hit rates of their caches. On a terminal it refreshes
until interrupted; elsewhere it prints once.`,
		Args: words(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if every <= 0 {
				return usageError{fmt.Errorf("--every %v: must be more than 0", every)}
			}
			return a.top(c.Context(), every)
		},
	}
	c.Flags().DurationVar(&every, "every", time.Second, "time between two refreshes")
	return c
}

func (a *app) top(ctx context.Context, every time.Duration) error {
	_, live := terminalOf(a.stdout)
	for before := map[int]*server.Status{}; ; {
		var b strings.Builder
		now, err := servers(ctx)
		if err != nil {
			return failure{err}
		}
		if len(now) == 0 {
			fmt.Fprintln(&b, "no server")
		}
		seen := map[int]*server.Status{}
		for _, st := range now {
			_ = writeServer(&b, st, before[st.PID]) // to memory
			seen[st.PID] = st
		}
		before = seen
		text := b.String()
		if live {
			text = "\x1b[H\x1b[2J" + text
		}
		if _, err := io.WriteString(a.stdout, text); err != nil || !live {
			return written(err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(every):
		}
	}
}

// servers queries all servers of the user.
func servers(ctx context.Context) (all []*server.Status, err error) {
	sockets, err := filepath.Glob(filepath.Join(server.SocketDir(), "*.sock"))
	if err != nil {
		return nil, err
	}
	for _, socket := range sockets {
		st, err := server.StatusOf(ctx, socket)
		if errors.Is(err, server.ErrNone) {
			continue // it was killed
		}
		if err != nil {
			return nil, err
		}
		all = append(all, st)
	}
	return all, nil
}

// writeServer writes a human-readable report of a server. Its rates are those
// since before, or since the start of each reader if before is nil.
func writeServer(w io.Writer, st, before *server.Status) error {
	fmt.Fprintf(w, "server %d of %s, for %s, %s of memory, %d connected\n", st.PID, display.Printable(st.Cache), seconds(st.Seconds), bytesOf(int64(st.MemoryBytes)), len(st.Connections))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for k, c := range st.Connections {
		if k == 0 {
			fmt.Fprintln(t, "  CLIENT\tREADS\tRANK\tEPOCH\tSAMPLES\tSAMPLES/S\tIN FLIGHT\tRING\tBOUND BY")
		}
		fmt.Fprintf(t, "  %s\t%s", display.Printable(fmt.Sprintf("%s (%d)", c.Client, c.PID)), display.Printable(c.Open))
		if r := c.Reader; r != nil {
			now := r.Since(before.ReaderOf(c.Number))
			var stages []loader.Stage
			if p := st.PipelineOf(c.Open); p != nil {
				stages = p.Since(before.PipelineOf(c.Open))
			}
			fmt.Fprintf(t, "\t%d of %d\t%d\t%d\t%.0f\t%d of %d\t%s\t%s", r.Rank, r.WorldSize, r.Epoch, r.Samples, float64(now.Samples)/max(now.Seconds, 1e-9), r.InFlight, r.Window, bytesOf(r.RingBytes), now.BoundBy(stages))
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, p := range st.Pipelines {
		writeStages(w, p.Open, p.Since(before.PipelineOf(p.Open)))
		for _, h := range p.Caches {
			if h.Reads == 0 {
				continue
			}
			predicted := "not predicted"
			if h.Predicted >= 0 {
				predicted = fmt.Sprintf("%.1f %% predicted", 100*h.Predicted)
			}
			fmt.Fprintf(w, "  %s: cache %d, epoch %d: %.1f %% of %d reads hit, %s\n", display.Printable(p.Open), h.Cache, h.Epoch, 100*float64(h.Hits)/float64(h.Reads), h.Reads, predicted)
		}
	}
	for _, c := range st.Caches {
		fmt.Fprintf(w, "  cache of %s: %d samples, %s, %d of %d reads hit, %d pipelines\n", display.Printable(c.Node), c.Entries, bytesOf(c.Bytes), c.Hits, c.Reads, c.Pipelines)
	}
	return nil
}

const maxStages = 5

func writeStages(w io.Writer, open string, stages []loader.Stage) {
	var shown []string
	for _, s := range stages[:min(len(stages), maxStages)] {
		if s.Share >= 0.005 {
			shown = append(shown, fmt.Sprintf("%s %.0f %%", display.Printable(s.Name), 100*s.Share))
		}
	}
	if len(shown) > 0 {
		fmt.Fprintf(w, "  %s: stages: %s\n", display.Printable(open), strings.Join(shown, ", "))
	}
}
