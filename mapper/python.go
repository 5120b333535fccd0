package mapper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/app/pyfunction"
	"github.com/larder-data/larder/internal/app/python"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/key"
)

func init() {
	component.RegisterMapper("python", "Calls a Python function on each sample, or on several together (batch), in persistent workers. The key covers the code that the function reaches, its arguments and its input items.",
		func(env *component.Env, p Python) (dataset.Mapper, error) {
			if env.Checked {
				return dataset.MapperFunc(func(_ context.Context, in dataset.Sample) (dataset.Sample, error) { return in, nil }), p.Check()
			}
			return p.Transform(env)
		})
}

// Python calls a Python function with items, in persistent worker processes that
// communicate through shared memory. docs/guides/python-functions-in-flows.md describes
// how items become Python values, and which return values become items.
//
// Its identity is that of the code, as the workers report it: all that the function and
// its setup reach, with the versions of distributions. Arguments are part of it, files
// by their content. Workers, Timeout, Bytes and the batch size are not.
//
// A worker that ends, or exceeds Timeout, fails its sample, and another one replaces
// it. Workers end with the run, or after a minute without work.
type Python struct {
	Function    string                    `param:"function,required" doc:"the function, as \"module:name\"; modules are searched in the flow's directory first. Or \"file.py:name\""`
	Items       []string                  `param:"items,required" doc:"items to pass to the function, in this order"`
	Into        []string                  `param:"into,required" doc:"items that it returns; for several, it returns a tuple or a dict"`
	Setup       string                    `param:"setup" doc:"a function that each worker calls once; its result, such as a model, is the first argument of the function"`
	Args        map[string]any            `param:"args" doc:"further keyword arguments, for the function, its setup or both, whichever has such a parameter"`
	Files       map[string]component.Path `param:"files" doc:"keyword arguments that are files, identified by content; the parameters are annotated as larder.File"`
	As          map[string]string         `param:"as" doc:"type of items for which the function has no annotation: value (default: NumPy arrays for arrays and images, strings, documents), numpy, pil, torch, bytes (the encoded item)"`
	Version     string                    `param:"version" doc:"a version string that replaces the analysis of the code; change it whenever results change"`
	Allow       []string                  `param:"allow,how" doc:"otherwise refused names that no result depends on, such as time.perf_counter for logging; a module's name allows all its names"`
	Batch       int                       `param:"batch,how" doc:"samples for each call, at most 512: the function gets a list for each item and returns a list of results; 0 means one sample, without lists" default:"0"`
	Workers     int                       `param:"workers,how" doc:"maximum number of worker processes; 0 means one for each sample computed concurrently" default:"0"`
	Timeout     string                    `param:"timeout,how" doc:"time limit for a sample, such as 30s or 5m (n times that for n samples); then the worker is killed and the sample fails. No limit by default"`
	Path        []component.Path          `param:"path" doc:"directories to search for modules after the flow's directory"`
	Interpreter string                    `param:"interpreter" doc:"the Python interpreter; default: LARDER_PYTHON, else the one that larder was installed with, else python3"`
	Bytes       int                       `param:"max-bytes,how" doc:"maximum number of bytes that the function may return for a sample; 0 means 1 GiB" default:"1073741824"`
}

// DirDependent says that modules and the interpreter are searched in the flow's directory.
func (Python) DirDependent() {}

// Check refuses invalid parameters.
func (m Python) Check() error {
	if err := m.named().Check(); err != nil {
		return err
	}
	if m.Workers < 0 {
		return fmt.Errorf("workers is %d; give 0 or more", m.Workers)
	}
	return Exec{Batch: m.Batch, Bytes: m.Bytes}.checkBounds()
}

// named returns the function.
func (m Python) named() pyfunction.Function {
	return pyfunction.Function{
		Name: m.Function, Setup: m.Setup, Into: m.Into, Args: m.Args, Files: m.Files,
		Version: m.Version, Allow: m.Allow, Path: m.Path, Interpreter: m.Interpreter, Timeout: m.Timeout,
	}
}

// Inputs lists its inputs, which no flow may overwrite.
func (m Python) Inputs(env *component.Env) []pathguard.Input { return m.named().Inputs(env) }

// Transform returns the mapper. It imports the function now, because the identity includes
// its code.
func (m Python) Transform(env *component.Env) (dataset.Transform, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	function := m.named()
	limit, err := function.Limit()
	if err != nil {
		return nil, err
	}
	logs, err := logsOf(env)
	if err != nil {
		return nil, err
	}
	setup, err := function.Worker(env)
	if err != nil {
		return nil, err
	}
	setup.Items, setup.As, setup.Batch, setup.Logs = m.Items, m.As, m.Batch > 0, logs.dir != ""
	workers := m.Workers
	if workers == 0 {
		workers = env.Pool.Workers()
	}
	setup.Threads = runtime.GOMAXPROCS(0) / workers
	fail := pyfunction.Failing{Function: m.Function, Timeout: m.Timeout, Interpreter: setup.Interpreter}
	workersOf, err := pyfunction.Open(context.Background(), env, setup, workers)
	if err != nil {
		return nil, fail.Why(err)
	}
	known := python.KnownBy(workersOf)
	c := &calls{
		function: m.Function, items: m.Items, into: m.Into, limit: limit, logs: logs, env: env, workers: workersOf, number: workersOf.Number(),
		as: known.As, most: cmp.Or(m.Bytes, maxLeft), fail: fail,
	}
	params, files, err := function.Params(context.Background(), env, known)
	if err != nil {
		return nil, err
	}
	c.files = files
	params = append(params, key.Param{Name: "batch", Value: m.Batch > 0}, key.Param{Name: "as", Value: known.As})
	batch, quick := m.Batch, false
	if batch == 0 && limit == 0 && logs.dir == "" { // otherwise each sample has its own time limit and log
		batch, quick = fewSamples, true
	}
	c.alone = m.Batch == 0
	return dataset.NewTransform(dataset.TransformFunc{
		Name: "python", Detail: m.Function, Params: params, Formats: []string{"npy", "png", "json", "txt", "bin"}, In: m.Items, Out: m.Into,
		Batch: batch, Quick: quick, BatchFunc: c.all(),
		// The communication with workers does not change a result: the identity of
		// their work is in Params.
		Pure: []string{"github.com/larder-data/larder/key.DigestFile", "github.com/larder-data/larder/component.Cleanup.Begin",
			"os", "path/filepath", "syscall", "io/fs", "github.com/larder-data/larder/dataset.PlacesOf", "github.com/larder-data/larder/dataset.CheckedBytes", "github.com/larder-data/larder/dataset.Item.Unread"},
	})
}

// A message to a worker has up to fewSamples small samples, as long as they have at
// most fewBytes together.
const (
	fewSamples = 8
	fewBytes   = 1 << 20
)

// calls is the state of one use of the mapper.
type calls struct {
	function    string
	items, into []string
	alone       bool // the function takes one sample
	limit       time.Duration
	logs        logDir
	env         *component.Env
	workers     *python.Pool // that run it
	number      python.Number
	files       pyfunction.Files // arguments
	as          []string         // how items are passed
	most        int              // bytes that a sample may have
	fail        pyfunction.Failing
}

// all returns the function on samples. It is the code identity of the mapper.
func (c *calls) all() func(context.Context, []dataset.Sample) ([]dataset.Sample, error) {
	return func(ctx context.Context, in []dataset.Sample) ([]dataset.Sample, error) { return c.run(ctx, in) }
}

// run makes workers call the function with samples, in one message if they are small.
func (c *calls) run(ctx context.Context, samples []dataset.Sample) (outs []dataset.Sample, err error) {
	defer c.env.Cleanup.Begin()()
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
	if err := c.files.Unchanged(ctx, c.env.Files); err != nil || len(failed) == 0 {
		return outs, err
	}
	return outs, &dataset.PartialError{Errs: failed}
}

// ask makes a worker call the function with the samples of a message.
func (c *calls) ask(ctx context.Context, m *message) (outs []dataset.Sample, failed map[int]error, err error) {
	log, err := openLog(ctx, c.logs)
	if err != nil {
		return nil, nil, fmt.Errorf("logs: %w", err)
	}
	defer func() { err = errors.Join(err, log.close()) }()
	n := m.samples
	limit := c.limit * time.Duration(n)
	if limit/time.Duration(n) != c.limit { // overflow
		limit = 0
	}
	expected := replies{n, pyfunction.Reply{Function: c.function, Into: slices.Clone(c.into), Most: c.most}}
	task := &python.Task{
		Bytes: m.bytes, Fill: m.fill, Limit: limit, Environ: larder.Environ(ctx), Most: int64(n) * (int64(c.most) + pyfunction.ErrorBytes),
		Answer: func(answer []byte) (err error) {
			outs, failed, err = expected.read(answer)
			return err
		},
	}
	if log.file != nil {
		task.Log = log
	}
	if err := python.Do(ctx, c.number, task); err != nil {
		return nil, nil, c.fail.Why(err)
	}
	return outs, failed, nil
}
