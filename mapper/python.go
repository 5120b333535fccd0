package mapper

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/guard"
	"github.com/larder-data/larder/internal/pyworker"
	"github.com/larder-data/larder/key"
)

func init() {
	component.RegisterMapper("python", "Calls a function of Python on each sample, or on several at once (batch), in processes that stay. Its results are kept while the code that the function reaches, its arguments and the items that it gets stay the same.",
		func(env *component.Env, p Python) (dataset.Mapper, error) {
			if env.Checked {
				return dataset.MapperFunc(func(_ context.Context, in dataset.Sample) (dataset.Sample, error) { return in, nil }), p.Check()
			}
			return p.Maker(env)
		})
}

// Python calls a function of Python with items, in worker processes that are started once
// and fed through shared memory. docs/python-mapper.md says how items become values of
// Python, and what is returned items.
//
// Its identity is that of the code, as the workers tell it: all that the function and its
// setup reach, of distributions their versions; and the arguments, files by their content.
// Workers, Timeout, Bytes and how large a batch is are no part of it.
//
// A worker that ends, or takes longer than Timeout, fails its sample, and another one takes
// its place. Workers end with the run, or when they had nothing to do for a minute.
type Python struct {
	Function    string                    `param:"function,required" doc:"the function, as \"module:name\"; modules are looked for in the flow's folder first. Or \"file.py:name\""`
	Items       []string                  `param:"items,required" doc:"items that the function is called with, in this order"`
	Into        []string                  `param:"into,required" doc:"items that it makes: what it returns, or for several, a tuple of them or a dict"`
	Setup       string                    `param:"setup" doc:"a function that each worker calls once; what it returns is the first argument of the function: a model, for example"`
	Args        map[string]any            `param:"args" doc:"arguments by name beside the items, for the function, its setup, or both: for those that have such a parameter"`
	Files       map[string]component.Path `param:"files" doc:"the same for files, which are known by their content: parameters that are annotated as larder.File"`
	As          map[string]string         `param:"as" doc:"how items are given, where the function's annotations do not say it: value (the default: arrays and images as arrays of NumPy, texts, documents), numpy, pil, torch, bytes (the item's file)"`
	Version     string                    `param:"version" doc:"stands for all code, where that depends on what no key can tell: a text to be changed whenever results do"`
	Batch       int                       `param:"batch,how" doc:"how many samples the function takes at once, at most 512: then it gets a list for each item, and returns as many results; 0 means that it takes one" default:"0"`
	Workers     int                       `param:"workers,how" doc:"how many processes there may be; 0 means as many as samples are computed at once" default:"0"`
	Timeout     string                    `param:"timeout,how" doc:"how long the function may take for a sample, such as 30s or 5m (and for several at once, so many times as long); then its worker is ended, and the sample is an error. Without it, as long as it takes"`
	Path        []component.Path          `param:"path" doc:"folders where modules are looked for after the flow's folder"`
	Interpreter string                    `param:"interpreter" doc:"the program python, by default what LARDER_PYTHON names, else that which larder was installed with, else python3"`
	Bytes       int                       `param:"max-bytes,how" doc:"how many bytes the function may return for a sample; more is an error, and 0 means 1 GiB" default:"1073741824"`
}

// Placed says that modules and the interpreter are looked for in the flow's folder.
func (Python) Placed() {}

// Check refuses parameters that cannot be right.
func (m Python) Check() error {
	if module, name, ok := strings.Cut(m.Function, ":"); !ok || module == "" || name == "" {
		return fmt.Errorf("function is %q; name it with its module, as in detect:boxes", m.Function)
	}
	if m.Setup != "" && !strings.Contains(m.Setup, ":") {
		return fmt.Errorf("setup is %q; name it with its module, as in detect:load", m.Setup)
	}
	if len(m.Into) == 0 {
		return errors.New("into must name at least one item")
	}
	for i, name := range m.Into {
		if slices.Contains(m.Into[:i], name) {
			return fmt.Errorf("into has %s twice", name)
		}
	}
	for name := range m.Files {
		if _, twice := m.Args[name]; twice {
			return fmt.Errorf("%s is in args and in files; leave out one of them", name)
		}
	}
	if m.Workers < 0 {
		return fmt.Errorf("workers is %d and must not be negative", m.Workers)
	}
	return m.bounds().Check()
}

// bounds are what it has in common with a command.
func (m Python) bounds() Exec { return Exec{Timeout: m.Timeout, Batch: m.Batch, Bytes: m.Bytes} }

// Inputs lists what it reads: no flow may write there.
func (m Python) Inputs(env *component.Env) (all []guard.Input) {
	for _, p := range m.Files {
		all = append(all, guard.Input{Path: env.Path(p)})
	}
	module, _, _ := strings.Cut(m.Function, ":")
	if strings.HasSuffix(module, ".py") {
		return append(all, guard.Input{Path: env.Path(component.Path(module))})
	}
	for _, folder := range append([]component.Path{"."}, m.Path...) {
		file := env.Path(folder + component.Path("/"+strings.ReplaceAll(module, ".", "/")+".py"))
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return append(all, guard.Input{Path: file})
		}
	}
	return all
}

// Maker returns the mapper. The function is imported now, as what it is known by is part of
// the identity.
func (m Python) Maker(env *component.Env) (dataset.Maker, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	limit, err := m.bounds().timeout()
	if err != nil {
		return nil, err
	}
	logs, err := logsOf(env)
	if err != nil {
		return nil, err
	}
	setup, err := m.setup(env)
	if err != nil {
		return nil, err
	}
	setup.Logs = logs.dir != ""
	workers := m.Workers
	if workers == 0 {
		workers = env.Pool.Workers()
	}
	setup.Threads = runtime.GOMAXPROCS(0) / workers
	var owner any
	if env.Ending != nil {
		owner = env.Ending
		env.Ending.Last(func() { pyworker.CloseOf(owner) })
	}
	fail := failing{m.Function, m.Timeout, setup.Interpreter}
	workersOf, err := open(setup, workers, owner)
	if err != nil {
		return nil, fail.why(err)
	}
	c := &calls{
		function: m.Function, items: m.Items, into: m.Into, limit: limit, logs: logs, env: env, workers: workersOf, number: workersOf.Number(),
		as:    pyworker.KnownBy(workersOf).As,
		files: map[string]key.Digest{}, most: cmp.Or(m.Bytes, maxLeft), fail: fail,
	}
	params, err := m.identity(env, c)
	if err != nil {
		return nil, err
	}
	batch, quick := m.Batch, false
	if batch == 0 && limit == 0 && logs.dir == "" { // else each sample has its own time, and log
		batch, quick = fewSamples, true
	}
	c.alone = m.Batch == 0
	return dataset.NewMaker(dataset.MakerFunc{
		Name: "python", Params: params, Formats: []string{"npy", "png", "json", "txt", "bin"}, In: m.Items, Out: m.Into,
		Batch: batch, Quick: quick, Together: c.all(),
		// How workers are fed changes no result: what they do is in Params.
		Pure: []string{"github.com/larder-data/larder/key.DigestFile", "github.com/larder-data/larder/component.Ending.Begin",
			"os", "path/filepath", "syscall", "io/fs", "github.com/larder-data/larder/dataset.PlacesOf", "github.com/larder-data/larder/dataset.CheckedBytes", "github.com/larder-data/larder/dataset.Item.Unread"},
	})
}

// A worker is given up to fewSamples at once that take little, as far as they have no more
// than fewBytes.
const (
	fewSamples = 8
	fewBytes   = 1 << 20
)

// errorBytes is more than what stands for a sample that failed has.
const errorBytes = 64 << 10

// importTime is how long a function may take to be imported, with all that it needs.
const importTime = 5 * time.Minute

func open(setup pyworker.Setup, workers int, owner any) (*pyworker.Pool, error) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), importTime, fmt.Errorf("it was not imported in %s", importTime))
	defer cancel()
	return pyworker.Open(ctx, setup, workers, owner)
}

// setup is what workers are told.
func (m Python) setup(env *component.Env) (s pyworker.Setup, err error) {
	s = pyworker.Setup{
		Interpreter: cmp.Or(m.Interpreter, env.Python, os.Getenv("LARDER_PYTHON"), besideProgram(), "python3"),
		Dir:         env.Path("."), Path: []string{}, Function: m.Function, Start: m.Setup, Version: m.Version,
		Items: m.Items, As: m.As, Into: m.Into, Batch: m.Batch > 0, Files: map[string]string{}, Shared: runtime.GOOS != "windows",
	}
	if strings.ContainsRune(s.Interpreter, os.PathSeparator) {
		s.Interpreter = env.Path(component.Path(s.Interpreter))
	}
	for _, p := range m.Path {
		folder := env.Path(p)
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return s, fmt.Errorf("path: there is no folder %s", folder)
		}
		s.Path = append(s.Path, folder)
	}
	for name, p := range m.Files {
		s.Files[name] = env.Path(p)
	}
	if len(m.Args) > 0 {
		if s.Args, err = json.Marshal(plainArgs(m.Args)); err != nil {
			err = fmt.Errorf("args: %w", cmp.Or(errors.Unwrap(err), err))
		}
	}
	return s, err
}

// besideProgram is the interpreter of the environment that the program is installed in, if
// it is in one.
func besideProgram() string {
	program, err := os.Executable()
	if err != nil {
		return ""
	}
	beside := filepath.Join(filepath.Dir(program), "python3")
	if _, err := os.Stat(filepath.Join(filepath.Dir(beside), "..", "pyvenv.cfg")); err != nil {
		return ""
	}
	if info, err := os.Stat(beside); err != nil || info.IsDir() {
		return ""
	}
	return beside
}

// plainArgs are arguments as JSON has them, with the order of mappings.
func plainArgs(args map[string]any) map[string]any {
	plain := map[string]any{}
	for name, v := range args {
		plain[name] = plainArg(v)
	}
	return plain
}

func plainArg(v any) any {
	switch v := v.(type) {
	case []any:
		all := make([]any, len(v))
		for i, e := range v {
			all[i] = plainArg(e)
		}
		return all
	case []component.Entry:
		return entries(v)
	case float64:
		return floating(v)
	}
	return v
}

// A floating is a number that Python is to have as a float, also where it is whole.
type floating float64

// MarshalJSON implements json.Marshaler.
func (n floating) MarshalJSON() ([]byte, error) {
	f := float64(n)
	if math.Abs(f) >= 1<<63 && f == math.Trunc(f) { // it may have been written with more digits
		return nil, fmt.Errorf("%v has more than 64 bits; give it as a text, and have the function make a number of it", f)
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("%v is no number that can be given", f)
	}
	text := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return []byte(text), nil
}

// entries is a mapping that is written as JSON in its order.
type entries []component.Entry

// MarshalJSON implements json.Marshaler.
func (e entries) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, one := range e {
		if i > 0 {
			b = append(b, ',')
		}
		k, err := json.Marshal(one.Key)
		if err != nil {
			return nil, err
		}
		v, err := json.Marshal(plainArg(one.Value))
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, k...), ':'), v...)
	}
	return append(b, '}'), nil
}

// maxParts is how many parts of the code explanations have.
const maxParts = 400

// calls is what one use of the mapper needs to run.
type calls struct {
	function    string
	items, into []string
	alone       bool // the function takes one sample
	limit       time.Duration
	logs        logFolder
	env         *component.Env
	workers     *pyworker.Pool // to have it
	number      pyworker.Number
	files       map[string]key.Digest // of those it is given, by path
	as          []string              // how items are given
	most        int                   // bytes that a sample may have
	fail        failing
}

// identity lists what the result depends on beside the items.
func (m Python) identity(env *component.Env, c *calls) ([]key.Param, error) {
	known := pyworker.KnownBy(c.workers)
	args, err := json.Marshal(plainArgs(m.Args))
	if err != nil {
		return nil, err
	}
	params := []key.Param{
		{Name: "into", Value: m.Into},
		{Name: "args", Value: string(args)}, {Name: "batch", Value: m.Batch > 0}, {Name: "as", Value: known.As},
		{Name: "code", Value: known.Identity},
	}
	seen := map[string]bool{}
	for _, p := range known.Parts[:min(len(known.Parts), maxParts)] {
		if name := "code " + p.Name; !seen[name] {
			seen[name] = true
			params = append(params, key.Param{Name: name, Value: p.Digest})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		path := env.Path(m.Files[name])
		d, _, err := key.DigestFile(context.Background(), path, env.Files)
		if err != nil {
			return nil, fmt.Errorf("files: %s: %w", name, err)
		}
		c.files[path] = d
		params = append(params, key.Param{Name: "file " + name, Value: d.String()})
	}
	return params, nil
}

// all returns what is done with samples. It is known by this function.
func (c *calls) all() func(context.Context, []dataset.Sample) ([]dataset.Sample, error) {
	return func(ctx context.Context, in []dataset.Sample) ([]dataset.Sample, error) { return c.run(ctx, in) }
}

// run has workers call the function with samples, in one message where they are not large.
func (c *calls) run(ctx context.Context, samples []dataset.Sample) (outs []dataset.Sample, err error) {
	defer c.env.Ending.Begin()()
	failed := map[int]error{}
	for len(outs) < len(samples) {
		message, err := c.message(ctx, samples[len(outs):])
		if err != nil {
			return nil, err
		}
		some, without, err := c.ask(ctx, message)
		if err != nil {
			return nil, err
		}
		for i, err := range without {
			failed[len(outs)+i] = err
		}
		outs = append(outs, some...)
	}
	if err := c.unchanged(ctx); err != nil || len(failed) == 0 {
		return outs, err
	}
	return outs, &dataset.PartialError{Errs: failed}
}

// ask has a worker call the function with the samples of a message.
func (c *calls) ask(ctx context.Context, m *message) (outs []dataset.Sample, failed map[int]error, err error) {
	log, err := openLog(ctx, c.logs)
	if err != nil {
		return nil, nil, fmt.Errorf("logs: %w", err)
	}
	defer func() { err = errors.Join(err, log.close()) }()
	n := m.samples
	limit := c.limit * time.Duration(n)
	if limit/time.Duration(n) != c.limit { // longer than can be said
		limit = 0
	}
	said := reply{c.function, slices.Clone(c.into), n, c.most}
	task := &pyworker.Task{
		Bytes: m.bytes, Fill: m.fill, Limit: limit, Environ: larder.Environ(ctx), Most: int64(n) * (int64(c.most) + errorBytes),
		Answer: func(answer []byte) (err error) {
			outs, failed, err = said.read(answer)
			return err
		},
	}
	if log.file != nil {
		task.Log = log
	}
	if err := pyworker.Do(ctx, c.number, task); err != nil {
		return nil, nil, c.fail.why(err)
	}
	return outs, failed, nil
}

// unchanged holds files to what they were when the identity was made.
func (c *calls) unchanged(ctx context.Context) error {
	for path, was := range c.files {
		now, _, err := key.DigestFile(ctx, path, c.env.Files)
		if err != nil {
			return err
		}
		if now != was {
			return fmt.Errorf("%s: %w", path, dataset.ErrChanged)
		}
	}
	return nil
}

// A failing says what failed: the function, its worker, or what is needed for it.
type failing struct{ function, timeout, interpreter string }

func (f failing) why(err error) error {
	died := (*pyworker.DiedError)(nil)
	switch {
	case errors.Is(err, context.Canceled) || errors.Is(err, dataset.ErrChanged):
		return err
	case errors.Is(err, pyworker.ErrTimeout):
		said := strings.TrimPrefix(err.Error(), pyworker.ErrTimeout.Error())
		return fmt.Errorf("%s took longer than the timeout of %s, and its worker was ended%s", f.function, f.timeout, said)
	case errors.As(err, &died) && strings.Contains(died.Stderr, "No module named") && strings.Contains(died.Stderr, "larder"):
		return fmt.Errorf("%s cannot import larder: install the package for it, as by %s -m pip install ./python in a clone, or name another interpreter in LARDER_PYTHON%s", f.interpreter, f.interpreter, died.Stderr)
	}
	return fmt.Errorf("%s: %w", f.function, err)
}
