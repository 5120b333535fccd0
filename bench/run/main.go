// Command run compares Larder with other software. It writes its sections of
// docs/benchmarks.md and README.md, between their markers, and the charts. Run it
// in the directory bench:
//
//	go run ./run                     all rows, at full size
//	go run ./run --quick             small sizes, two runs; results and pages in .work
//	go run ./run --rows hit,store    these rows; the other figures stay
//	go run ./run --render-only       writes the sections again from results.json
//
// With BENCH_PROFILE=DIRECTORY in the environment, each job in Go writes profiles of
// the processor and the heap there.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/larder-data/larder/bench/work"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// scratch is the directory of quick results and of the command; it is not committed.
const scratch = ".work"

func run(ctx context.Context, args []string) error {
	if len(args) == 2 && args[0] == "job" {
		return work.Main(ctx, args[1]) // this process is a system under test
	}
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	quick := flags.Bool("quick", false, "small sizes and two runs, to see whether everything works")
	renderOnly := flags.Bool("render-only", false, "measure nothing; write the sections from what was measured")
	only := flags.String("rows", "", "measure these rows, separated by commas")
	runs := flags.Int("runs", 0, "runs of each contestant (default 5, quick 2)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if _, err := os.Stat("python/contest.py"); err != nil {
		return errors.New("run this program in the directory bench")
	}
	if err := os.MkdirAll(scratch, 0o777); err != nil {
		return err
	}
	file, root := "results.json", ".."
	if *quick {
		file, root = filepath.Join(scratch, "results.json"), scratch
	}
	all := Results{}
	if *renderOnly || *only != "" {
		if err := all.read(file); err != nil && (*renderOnly || !errors.Is(err, os.ErrNotExist)) {
			return err
		}
	}
	if !*renderOnly {
		m := measurer{quick: *quick, runs: *runs}
		if m.runs == 0 {
			m.runs = map[bool]int{false: 5, true: 2}[*quick]
		}
		if err := m.measure(ctx, &all, *only, file); err != nil {
			return err
		}
	}
	return render(root, all)
}

// measure runs the chosen rows in sequence, and replaces their results in the file after
// each.
func (m *measurer) measure(ctx context.Context, all *Results, only, file string) (err error) {
	if m.self, err = os.Executable(); err != nil {
		return err
	}
	if m.python, m.pythonErr = python(ctx); m.pythonErr != nil {
		fmt.Fprintln(os.Stderr, "bench: no Python contestants:", m.pythonErr)
	}
	if err := m.buildCommand(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench: no command larder:", err)
	}
	if m.dir, err = os.MkdirTemp("", "larder-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(m.dir)) }()
	all.Machine, all.Versions, all.Quick, all.Runs = machine(m.dir), versions(ctx, m.python), m.quick, m.runs
	if all.Rows == nil {
		all.Rows = map[string]Session{}
	}
	for _, r := range rows {
		if only != "" && !strings.Contains(","+only+",", ","+r.Name+",") {
			continue
		}
		begin := time.Now()
		session := Session{Date: begin.UTC().Format("2006-01-02 15:04 MST"), Larder: all.Versions["Larder"], Load: load()}
		samples, err := m.row(ctx, r)
		if err != nil {
			return fmt.Errorf("row %s: %w", r.Name, err)
		}
		all.replace(r.Name, samples)
		session.Seconds = time.Since(begin).Seconds()
		all.Rows[r.Name] = session
		fmt.Fprintf(os.Stderr, "%-12s %6.1f s\n", r.Name, session.Seconds)
		if err := all.write(file); err != nil {
			return err
		}
	}
	return nil
}

// buildCommand builds the command larder for the systems that run it.
func (m *measurer) buildCommand(ctx context.Context) error {
	path, err := filepath.Abs(filepath.Join(scratch, "larder"))
	if err != nil {
		return err
	}
	c := exec.CommandContext(ctx, "go", "build", "-C", "..", "-o", path, "./cmd/larder")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return os.Setenv("LARDER_BENCH_COMMAND", path)
}
