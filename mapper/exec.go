package mapper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/internal/fs/cleanup"
	"github.com/larder-data/larder/internal/proc/process"
	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/key"
)

func init() {
	component.RegisterMapper("exec", "Runs a command on each sample, or on several together (batch); items are passed as files. The key covers the command line, its code files, its variables and its input items.",
		func(env *component.Env, p Exec) (dataset.Mapper, error) { return p.Transform(env) })
}

// Exec runs a command for each sample, in an empty temporary directory. LARDER_IN and
// LARDER_OUT name two directories inside it. LARDER_IN has each item of Items as
// <key>.<ext>, encoded as stored. Each file <key>.<ext> that the command leaves in
// LARDER_OUT becomes an item, and Into must name exactly those keys.
//
// With Batch it runs once for up to that many samples, and LARDER_BATCH replaces
// LARDER_IN and LARDER_OUT. It names a directory with a directory per sample, 000, 001
// and so on, each with in and out inside. A command that succeeds reports a failed
// sample by a file error in the sample's directory, with the reason. If a command
// fails, its output is dropped. The samples that it reported have failed; the others
// run again, in halves if it reported none. Batches depend on what is cached and
// requested, so an output may depend only on the items of its sample.
//
// Its identity is the words of the command, the values of the variables in Env, and the
// content of files. These are the files in Code and those below the flow's directory
// that words and values name: see [Exec.Files]. Words that are such a name become
// absolute paths; names inside longer words and in values stay unchanged. The command's
// environment has only Env, PATH, HOME and TMPDIR, and what [larder.Environ] adds.
//
// Timeout and Bytes bound what the command may use for a sample. They and Batch are not
// part of the identity, because they decide whether there is a result, but not which.
//
// Processes that the command starts end with it, or at the latest with the run, and its
// directory is removed. If the program was killed, [Sweep] does both.
type Exec struct {
	Command []string         `param:"command,required" doc:"the program and its arguments"`
	Items   []string         `param:"items,required" doc:"items passed to the command, as files in LARDER_IN"`
	Into    []string         `param:"into,required" doc:"items that the command writes, as files in LARDER_OUT"`
	Code    []component.Path `param:"code" doc:"files that the result depends on: scripts, weights, tables"`
	Env     []string         `param:"env" doc:"names of environment variables that the command may see"`
	Timeout string           `param:"timeout,how" doc:"time limit for a sample, such as 30s or 5m (n times that for n samples); then the command is killed and the sample fails. No limit by default"`
	Batch   int              `param:"batch,how" doc:"samples for each run of the command, at most 512: LARDER_BATCH, instead of LARDER_IN and LARDER_OUT, has a directory for each sample, with directories in and out. The command may write a file error there if a sample fails. 0: one sample, with LARDER_IN and LARDER_OUT" default:"0"`
	Bytes   int              `param:"max-bytes,how" doc:"maximum number of bytes of the files that the command writes for a sample; 0 means 1 GiB" default:"1073741824"`
}

// maxLeft is the default bound of the output of a command.
const maxLeft = 1 << 30

// DirDependent says that words of the command and variables name files of the flow's
// directory.
func (Exec) DirDependent() {}

// Check refuses parameters that cannot work for any sample.
func (m Exec) Check() error {
	if err := m.checkBounds(); err != nil {
		return err
	}
	if len(m.Command) == 0 || m.Command[0] == "" {
		return errors.New("command is empty; give the program and its arguments")
	}
	if err := checkFiles("items", m.Items); err != nil {
		return err
	}
	if err := checkFiles("into", m.Into); err != nil {
		return err
	}
	for _, name := range m.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return fmt.Errorf("env: %q is not a variable name; give a name without =", name)
		}
	}
	return nil
}

func (m Exec) checkBounds() error {
	if _, err := m.timeout(); err != nil {
		return err
	}
	if m.Bytes < 0 {
		return fmt.Errorf("max-bytes is %d; give 0 or more", m.Bytes)
	}
	if m.Batch < 0 || m.Batch > dataset.MaxBatch {
		return fmt.Errorf("batch is %d; give 1 to %d, or 0 for a command that takes one sample", m.Batch, dataset.MaxBatch)
	}
	return nil
}

// checkFiles refuses items that cannot be distinct files of a directory.
func checkFiles(what string, items []string) error {
	for i, k := range items {
		if !output.SafeName(k) || strings.Contains(k, ".") {
			return fmt.Errorf("%s: item %q is not a file name; give it a name without dots and slashes", what, k)
		}
		if slices.Contains(items[:i], k) {
			return fmt.Errorf("%s: item %q is listed twice; remove one", what, k)
		}
	}
	return nil
}

// timeout returns the time limit of the command; 0 means none.
func (m Exec) timeout() (time.Duration, error) {
	if m.Timeout == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(m.Timeout)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("timeout %q is not a duration; write one such as 30s, 5m or 1h30m", m.Timeout)
	}
	return d, nil
}

// Transform returns the mapper. It reads the code files, because their content is part of
// the identity.
func (m Exec) Transform(env *component.Env) (dataset.Transform, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	limit, err := m.timeout()
	if err != nil {
		return nil, err
	}
	logs, err := logsOf(env)
	if err != nil {
		return nil, err
	}
	run := &execution{Exec: m, limit: limit, logs: logs, env: env, code: map[string]key.Digest{}, dirs: newDirs()}
	if env.Cleanup != nil {
		dir, names, err := makeRunDir()
		if err != nil {
			return nil, err
		}
		run.dirs = names
		remain := cleanup.Add(func() error { return clearRun(dir, names) })
		env.Cleanup.Last(func() {
			endUsers(usersOf(dir.dir))
			_ = dir.remove() // the next run of a program tries again
			remain.Done()
		})
	}
	files, err := m.named(env)
	if err != nil {
		return nil, err
	}
	for _, word := range m.Command {
		run.argv = append(run.argv, cmp.Or(files.words[word], word))
	}
	params, err := run.identity(env, files)
	if err != nil {
		return nil, err
	}
	return dataset.NewTransform(dataset.TransformFunc{
		Name: "exec", Detail: strings.Join(m.Command, " "), Params: params, Formats: []string{}, In: m.Items, Out: m.Into, Batch: m.Batch, BatchFunc: run.all(),
		// From outside, the command gets only a directory and the values in Params.
		Pure: []string{"os", "os/exec", "path/filepath", "syscall", "io/fs", "github.com/larder-data/larder/key.DigestFile", "github.com/larder-data/larder/component.Cleanup.Begin",
			// The time limit, the location of the log, and errors in reading the output
			// do not change a result.
			"context.WithTimeout", "github.com/larder-data/larder/dataset.PlacesOf", "github.com/larder-data/larder/dataset.CheckedBytes"},
	})
}

// Variables lists the environment variables that the command gets, if they are set.
func (m Exec) Variables() []string { return slices.Concat([]string{"PATH", "HOME", "TMPDIR"}, m.Env) }

// identity lists what the result depends on besides the items. It names files as the
// flow does, so that a flow may be moved.
func (e *execution) identity(env *component.Env, named namedFiles) ([]key.Param, error) {
	params := []key.Param{{Name: "command", Value: e.Command}, {Name: "into", Value: e.Into}}
	files := named.words
	maps.Copy(files, named.parts)
	for _, p := range e.Code {
		files[string(p)] = env.Path(p)
	}
	for name, path := range files {
		d, _, err := key.DigestFile(context.Background(), path, env.Files)
		if err != nil {
			return nil, fmt.Errorf("code file %s: %w", name, err)
		}
		e.code[path] = d
		params = append(params, key.Param{Name: "code " + name, Value: d.String()})
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(e.Env))) {
		value, set := os.LookupEnv(name)
		// Only its digest, because a variable may hold a secret, and explanations are
		// stored.
		params = append(params, key.Param{Name: "env " + name, Value: []any{set, key.DigestOf([]byte(value)).String()}})
	}
	return params, nil
}

// execution is the state of one use of the mapper.
type execution struct {
	Exec
	limit time.Duration // 0 means none
	logs  logDir        // of the command's stderr
	argv  []string
	env   *component.Env
	code  map[string]key.Digest // of the files in the identity, by path

	dirs string // prefix of the names of the directories in which the command runs
}

// all returns the function on samples. It is the code identity of the mapper.
func (e *execution) all() func(context.Context, []dataset.Sample) ([]dataset.Sample, error) {
	return func(ctx context.Context, in []dataset.Sample) ([]dataset.Sample, error) { return e.run(ctx, in) }
}

// run runs the command on samples: on a single one, unless it takes batches.
func (e *execution) run(ctx context.Context, samples []dataset.Sample) (outs []dataset.Sample, err error) {
	defer e.env.Cleanup.Begin()()
	dir, err := makeDir(e.dirs)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, dir.remove()) }()
	desks, variables, err := e.desks(dir.dir, len(samples))
	if err != nil {
		return nil, err
	}
	for i, s := range samples {
		if err := e.writeInputs(ctx, s, desks[i].in); err != nil {
			return nil, err
		}
		if err := os.Mkdir(desks[i].out, 0o700); err != nil {
			return nil, err
		}
	}
	ended := e.start(ctx, dir.dir, variables, len(samples))
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if ended == nil {
		ended = e.unchanged(ctx)
	}
	return e.collectAll(desks, ended)
}

// unchanged checks that the code files have not changed since the identity was
// computed, because the command may have read other content.
func (e *execution) unchanged(ctx context.Context) error {
	for path, was := range e.code {
		now, _, err := key.DigestFile(ctx, path, e.env.Files)
		if err != nil {
			return fmt.Errorf("code file: %w", err)
		}
		if now != was {
			return fmt.Errorf("code file %s: %w (a command must not write to files of the flow's directory that its arguments name)", path, dataset.ErrChanged)
		}
	}
	return nil
}

// writeInputs writes the input items of the command.
func (e *execution) writeInputs(ctx context.Context, s dataset.Sample, dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	for f := range s.Fields() {
		ext, err := f.Item.Ext(ctx)
		if err == nil {
			err = write(ctx, filepath.Join(dir, f.Key+"."+ext), f.Item)
		}
		if err != nil {
			return fmt.Errorf("item %s: %w", display.Name(f.Key), err)
		}
	}
	return nil
}

// write writes an item to a file. The item may be larger than memory.
func write(ctx context.Context, path string, it *dataset.Item) error {
	from, _, err := it.Open(ctx)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}

// start runs the command for n samples and waits for its end.
func (e *execution) start(ctx context.Context, dir string, variables []string, n int) (err error) {
	bounded, cancel := e.bounded(ctx, n)
	defer cancel()
	cmd := exec.CommandContext(bounded, e.argv[0], e.argv[1:]...)
	cmd.Dir = dir
	cmd.Env = slices.Concat(e.environ(), larder.Environ(ctx), variables)
	var stderr process.Tail
	log, err := openLog(ctx, e.logs)
	if err != nil {
		return fmt.Errorf("logs: %w", err)
	}
	defer func() { err = errors.Join(err, log.close()) }()
	cmd.Stderr = &stderrWriter{&stderr, log}
	err = runGroup(cmd)
	if bounded.Err() != nil || errors.Is(err, exec.ErrWaitDelay) {
		endUsers(dir + string(filepath.Separator))
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil && bounded.Err() != nil {
		return fmt.Errorf("command %s: killed after the timeout of %s%s%s", e.shown(), e.Timeout, ofEach(n), stderr.String())
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it succeeded, and its remaining processes have ended now
	}
	if err == nil {
		return nil
	}
	output := ""
	if errors.As(err, new(*exec.ExitError)) { // otherwise it did not run
		output = stderr.String()
	}
	return fmt.Errorf("command %s: %w%s", e.shown(), e.whyFailed(err), output)
}

func ofEach(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(" for each of %d samples", n)
}

// bounded returns ctx with the time limit for n samples.
func (e *execution) bounded(ctx context.Context, n int) (context.Context, context.CancelFunc) {
	limit := e.limit * time.Duration(n)
	if limit/time.Duration(n) != e.limit { // overflow
		limit = 0
	}
	if limit == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, limit)
}

// environ returns the environment of the command, without the variables for its
// directories.
func (e *execution) environ() []string {
	var env []string
	for _, name := range e.Variables() {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}
