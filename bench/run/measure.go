package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/larder-data/larder/bench/work"
)

// timeout bounds one phase of one run of one system.
const timeout = 5 * time.Minute

// measurer runs the systems under test.
type measurer struct {
	quick     bool
	runs      int
	self      string // this program
	python    string // the interpreter
	pythonErr error  // why there is none
	dir       string // for all files that are written
}

// row runs all systems of a row in turn, for the requested number of runs.
func (m *measurer) row(ctx context.Context, r Row) (samples []Sample, err error) {
	data := ""
	if r.Data != nil {
		data = filepath.Join(m.dir, r.Name)
		if err := r.Data(data, r.n(m.quick)); err != nil {
			return nil, err
		}
	}
	failed := map[string]bool{}
	for run := range m.runs {
		for _, size := range r.sizes(m.quick, run) {
			for _, c := range r.turn(run * len(r.Contestants) / m.runs) {
				name := fmt.Sprint(c.Name, size)
				if c.Not != "" || failed[name] || c.Most > 0 && size > c.Most {
					continue
				}
				s := Sample{Row: r.Name, Contestant: c.Name, N: c.n(size, m.quick), Run: run}
				s.Figures, err = m.contest(ctx, r, c, data, s.N, run)
				if ctx.Err() != nil {
					return nil, context.Cause(ctx)
				}
				if err != nil {
					s.Error, failed[name] = firstLine(err), true
					fmt.Fprintf(os.Stderr, "bench: %s: %s: %s\n", r.Name, c.Name, s.Error)
				}
				samples = append(samples, s)
			}
		}
	}
	return samples, nil
}

// contest executes all phases of one run.
func (m *measurer) contest(ctx context.Context, r Row, c Contestant, data string, n, run int) (figures work.Figures, err error) {
	dir, err := os.MkdirTemp(m.dir, "run-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if c.Python && m.pythonErr != nil {
		return nil, m.pythonErr
	}
	if c.Own != nil { // its share of the common input
		if data, err = c.Own(data, dir, n); err != nil {
			return nil, err
		}
	}
	figures = work.Figures{}
	for _, phase := range r.phases() {
		if r.Before != nil {
			if err := r.Before(data, phase, run); err != nil {
				return nil, err
			}
		}
		syscall.Sync() // so that no system pays for the writes of another
		j := work.Job{Row: cmp.Or(r.Job, r.Name), Contestant: c.Name, Phase: phase, Dir: dir, Data: data, N: n, Bytes: r.Bytes, Seconds: 0.3}
		if m.quick {
			j.Seconds = 0.02
		}
		f, err := m.together(ctx, j, c.Python, max(r.Processes, 1))
		if err != nil {
			return nil, err
		}
		for k, v := range f {
			figures[k] = v
		}
		if phase == "put" {
			if figures["disk"], err = diskUse(filepath.Join(dir, "cache")); err != nil {
				return nil, err
			}
		}
	}
	return figures, nil
}

// together runs a job in several processes that begin at the same time. It adds up
// executions, and returns the time of the slowest.
func (m *measurer) together(ctx context.Context, j work.Job, python bool, processes int) (work.Figures, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("took more than %s", timeout))
	defer cancel()
	all := make([]*child, processes)
	for i := range all {
		c, err := m.start(ctx, j, python)
		if err != nil {
			return nil, err
		}
		defer c.stop()
		all[i] = c
	}
	for _, c := range all {
		if err := c.awaitReady(); err != nil {
			return nil, cmp.Or(context.Cause(ctx), err)
		}
	}
	for _, c := range all {
		if err := c.begin(); err != nil {
			return nil, err
		}
	}
	sum := work.Figures{}
	for _, c := range all {
		f, err := c.result()
		if err != nil {
			return nil, cmp.Or(context.Cause(ctx), err)
		}
		for k, v := range f {
			if strings.HasSuffix(k, "executions") {
				sum[k] += v
			} else {
				sum[k] = max(sum[k], v)
			}
		}
	}
	return sum, nil
}

// child is a process that runs a job.
type child struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	errors bytes.Buffer
	early  []byte // its output instead of ready
}

func (m *measurer) start(ctx context.Context, j work.Job, python bool) (*child, error) {
	b, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	args := []string{m.self, "job", string(b)}
	if python {
		args = []string{m.python, "python/contest.py", string(b)}
	}
	c := &child{cmd: exec.CommandContext(ctx, args[0], args[1:]...)}
	c.cmd.Stderr = &c.errors
	c.cmd.Env = append(os.Environ(), "HF_HOME="+j.Dir+"/hf", "PYTHONDONTWRITEBYTECODE=1")
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewReader(out)
	return c, c.cmd.Start()
}

func (c *child) awaitReady() error {
	line, err := c.out.ReadBytes('\n')
	switch {
	case err != nil:
		return c.lastWords(err)
	case string(line) != "ready\n":
		c.early = line
	}
	return nil
}

func (c *child) begin() error {
	if c.early != nil {
		return nil
	}
	_, err := io.WriteString(c.in, "\n")
	return err
}

// result reads the result from the last line.
func (c *child) result() (work.Figures, error) {
	rest, err := io.ReadAll(c.out)
	if err != nil {
		return nil, err
	}
	lines := bytes.Split(bytes.TrimSpace(append(c.early, rest...)), []byte("\n"))
	var v map[string]any
	if err := json.Unmarshal(lines[len(lines)-1], &v); err != nil {
		return nil, c.lastWords(err)
	}
	if text, ok := v["error"].(string); ok {
		return nil, errors.New(text)
	}
	f := work.Figures{}
	for k, n := range v {
		f[k], _ = n.(float64)
	}
	return f, nil
}

// lastWords adds the last output of a failed process to its error.
func (c *child) lastWords(err error) error {
	_ = c.cmd.Wait()
	lines := strings.Split(strings.TrimSpace(c.errors.String()), "\n")
	return cmp.Or(nonEmpty(lines[len(lines)-1]), err)
}

func nonEmpty(s string) error {
	if s == "" {
		return nil
	}
	return errors.New(s)
}

func (c *child) stop() {
	_ = c.in.Close()
	_ = c.cmd.Wait()
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// diskUse returns the bytes that a directory takes on its file system.
func diskUse(dir string) (bytes float64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if s, ok := info.Sys().(*syscall.Stat_t); ok {
			bytes += float64(s.Blocks) * 512
		}
		return nil
	})
	return bytes, err
}
