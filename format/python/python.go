// Package python provides the source python: streams of samples that Python functions
// yield.
package python

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/app/pyfunction"
	"github.com/larder-data/larder/internal/app/python"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/stream"
)

func init() {
	component.RegisterStream("python", "Calls a Python generator, or a function that returns an iterable, in a separate process, and returns its elements as a stream of samples. The key covers the code that the function reaches, its arguments and its files.",
		func(env *component.Env, p Source) (component.Stream, component.KeyParts, error) { return p.Open(env) })
}

// Source streams the samples that a Python function yields.
// docs/guides/python-functions-in-flows.md says how values become items.
//
// Its stream replays: each reader calls the function again, in its own process, and
// skips the elements before its state there. A reader takes pieces of up to 256 elements
// and 1 MiB, with the elements that are computed within some milliseconds, and at least
// one. The next piece is computed at the same time, with at most a quarter of the
// elements taken so far. So after n elements at most one more, or half as many, was
// computed.
//
// Closing a reader closes the generator, which runs its finally blocks. If that takes
// long, it is interrupted (KeyboardInterrupt), and killed after some seconds.
//
// An element that is invalid, takes longer than Timeout, or ends the worker is an error
// of this element. The elements before it are returned.
type Source struct {
	Function    string                    `param:"function,required" doc:"the function, as \"module:name\"; modules are searched in the flow's directory first. Or \"file.py:name\". A generator, or a function that returns an iterator or a list"`
	Into        []string                  `param:"into,required" doc:"items of a sample: what the function yields; for several, it yields a tuple or a dict"`
	Setup       string                    `param:"setup" doc:"a function that is called first; its result is the first argument of the function"`
	Args        map[string]any            `param:"args" doc:"keyword arguments for the function, its setup or both, whichever has such a parameter"`
	Files       map[string]component.Path `param:"files" doc:"keyword arguments that are files, identified by content; the parameters are annotated as larder.File"`
	Version     string                    `param:"version" doc:"a version string that replaces the analysis of the code, for code that depends on more, such as replies of a website; change it to compute the elements again"`
	Allow       []string                  `param:"allow,how" doc:"otherwise refused names that no result depends on, such as time.perf_counter for logging; a module's name allows all its names"`
	Timeout     string                    `param:"timeout,how" doc:"time limit for an element, such as 30s or 5m; then the process is killed and the element fails. No limit by default"`
	Path        []component.Path          `param:"path" doc:"directories to search for modules after the flow's directory"`
	Interpreter string                    `param:"interpreter" doc:"the Python interpreter; default: LARDER_PYTHON, else the one that larder was installed with, else python3"`
	Bytes       int                       `param:"max-bytes,how" doc:"maximum number of bytes of an element; 0 means 1 GiB" default:"1073741824"`
}

// DirDependent reports that modules and the interpreter are searched in the flow's directory.
func (Source) DirDependent() {}

// Check refuses invalid parameters.
func (s Source) Check() error {
	if s.Bytes < 0 {
		return fmt.Errorf("max-bytes is %d; give 0 or more", s.Bytes)
	}
	return s.named().Check()
}

// named returns the function.
func (s Source) named() pyfunction.Function {
	return pyfunction.Function{
		Name: s.Function, Setup: s.Setup, Into: s.Into, Args: s.Args, Files: s.Files,
		Version: s.Version, Allow: s.Allow, Path: s.Path, Interpreter: s.Interpreter, Timeout: s.Timeout,
	}
}

// Inputs returns the files that the function reads, which no flow may write.
func (s Source) Inputs(env *component.Env) []pathguard.Input { return s.named().Inputs(env) }

// Open returns the stream and its identity. It imports the function, unless a version
// identifies its code, and does not call it.
func (s Source) Open(env *component.Env) (component.Stream, component.KeyParts, error) {
	if err := s.Check(); err != nil {
		return component.Stream{}, nil, err
	}
	g := &generator{Source: s, env: env}
	var err error
	if g.limit, err = s.named().Limit(); err != nil {
		return component.Stream{}, nil, err
	}
	out := stream.From(stream.Source[dataset.Sample]{
		Name: "python " + s.Function, Kind: stream.Replays,
		Open: func(ctx context.Context, _ int64) (stream.Feed[dataset.Sample], error) { return g.open(ctx) },
	})
	return out, g.known, nil
}

// A generator is the function of one stream. Its readers run the code that identifies
// the stream.
type generator struct {
	Source
	env   *component.Env
	limit time.Duration

	mu      sync.Mutex
	workers *python.Pool // nil until needed
	fail    pyfunction.Failing
	files   pyfunction.Files // nil until their states are read
	by      []any            // identity
}

// known returns the identity of the stream.
func (g *generator) known(ctx context.Context) ([]any, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.by != nil {
		return g.by, nil
	}
	var code *python.Identity
	if g.Version == "" {
		if err := g.hire(ctx); err != nil {
			return nil, err
		}
		code = python.KnownBy(g.workers)
	}
	params, files, err := g.named().Params(ctx, g.env, code)
	if err != nil {
		return nil, err
	}
	g.files = files
	for _, p := range params {
		g.by = append(g.by, p.Name, p.Value)
	}
	return g.by, nil
}

// hire imports the function in the workers of the readers.
func (g *generator) hire(ctx context.Context) error {
	if g.workers != nil {
		return nil
	}
	setup, err := g.named().Worker(g.env)
	if err != nil {
		return err
	}
	setup.Generates, setup.Threads = true, runtime.GOMAXPROCS(0)
	g.fail = pyfunction.Failing{Function: g.Function, Timeout: g.Timeout, Interpreter: setup.Interpreter}
	if g.workers, err = pyfunction.Open(ctx, g.env, setup, 1); err != nil {
		return g.fail.Why(err)
	}
	return nil
}

// open begins to read.
func (g *generator) open(ctx context.Context) (*feed, error) {
	if _, err := g.known(ctx); err != nil { // the current files
		return nil, err
	}
	g.mu.Lock()
	err := g.hire(ctx)
	g.mu.Unlock()
	if err != nil {
		return nil, err
	}
	f := &feed{generator: g, over: g.env.Cleanup.Begin(), environ: larder.Environ(ctx)}
	f.reply = pyfunction.Reply{Function: g.Function, Into: g.Into, Most: cmp.Or(g.Bytes, pyfunction.MaxBytes)}
	if f.session, err = python.Begin(ctx, g.workers); err != nil {
		f.over()
		return nil, g.fail.Why(err)
	}
	f.ctx, f.stop = context.WithCancelCause(context.WithoutCancel(ctx)) // it may end after the reader's
	return f, nil
}
