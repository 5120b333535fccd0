package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/internal/fs/cleanup"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/internal/text/urlpath"
)

// sink returns the sink that writes to the places of all -o, and its
// parameters. A single -o without a name gets all outputs; a format for several
// datasets writes each to a subdirectory. With several, each gets one output,
// and every output needs one unless the user allows unused outputs.
func (p *places) sink() (*component.Component, any) {
	if len(p.list) == 1 && p.list[0].name == "" {
		if o := p.list[0]; o.stdout {
			return component.NewSink("stdout", "Writes to standard output.", func(ctx context.Context, env *component.Env, s manySinks, in component.Data) error {
				if _, err := in.Single(); err != nil {
					return usageError{err}
				}
				return o.print(ctx, env, in, s.to)
			}), manySinks{p}
		}
		return p.list[0].component, p.list[0].params
	}
	return component.NewSink("outputs", "Writes each output to a place of its own.",
		func(ctx context.Context, env *component.Env, p manySinks, in component.Data) error {
			parts, err := p.outputs(in)
			if err != nil {
				return usageError{err}
			}
			for i, o := range p.list {
				write := o.component.Write
				if o.stdout {
					write = func(ctx context.Context, env *component.Env, _ any, in component.Data) error {
						return o.print(ctx, env, in, p.to)
					}
				}
				if err := write(ctx, env, o.params, parts[i]); err != nil {
					return fmt.Errorf("%s: %w", o.flag, err)
				}
			}
			return nil
		}), manySinks{p}
}

// print writes a dataset to a temporary file, and prints that file when it is
// complete.
func (p *place) print(ctx context.Context, env *component.Env, in component.Data, to io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "larder-print-")
	if err != nil {
		return fmt.Errorf("%w; temporary files are in the directory TMPDIR", err)
	}
	remain := cleanup.Add(func() error { return os.RemoveAll(dir) })
	defer func() {
		err = errors.Join(err, os.RemoveAll(dir))
		remain.Done()
	}()
	path, params, err := p.unnamed(dir)
	if err != nil {
		return err
	}
	if err := p.component.Write(ctx, env, params, in); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(to, f)
	return err
}

// unnamed returns a file in a directory, with an extension for its compression,
// and the parameters to write it.
func (p *place) unnamed(dir string) (path string, params any, err error) {
	for _, name := range []string{"rows", "rows.gz", "rows.zst", "rows.xz"} {
		path = filepath.Join(dir, name)
		if params, err = p.paramsFor(path); err != nil {
			return "", nil, err
		}
		if c, ok := component.As[component.SingleChecker](params); !ok || c.CheckSingle() == nil {
			break
		}
	}
	return path, params, nil
}

// manySinks are the places of several -o as the parameters of one sink.
type manySinks struct{ *places }

// Outputs implements component.Writer.
func (p manySinks) Outputs(env *component.Env) (all []pathguard.Output) {
	for _, o := range p.list {
		if o.stdout {
			continue
		}
		for _, out := range o.component.Outputs(env, o.params) {
			out.Owner = o.flag
			out.Single = out.Files && !out.Split // each has one dataset
			all = append(all, out)
		}
	}
	return all
}

// outputs finds the output for each -o.
func (p *places) outputs(in component.Data) ([]component.Data, error) {
	parts := make([]component.Data, len(p.list))
	left := slices.Clone(in.Names)
	for i, o := range p.list {
		name := o.name
		switch {
		case name != "":
		case i < len(in.Names):
			name = in.Names[i]
		default:
			return nil, fmt.Errorf("%s: there are more -o than outputs (%s); nothing was written", o.flag, listed(in.Names))
		}
		at, err := in.Find(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w; nothing was written", o.flag, noOutput(name, in, err))
		}
		parts[i] = component.One(in.Parts[at])
		left = slices.DeleteFunc(left, func(l string) bool { return l == in.Names[at] })
	}
	if len(left) > 0 && !p.allowUnused {
		return nil, fmt.Errorf("no -o for output %[2]s (of %[1]s); add -o, or drop it with --allow-unused-outputs (nothing was written)", listed(in.Names), listed(left))
	}
	return parts, nil
}

// noOutput returns an error with the available outputs and the likely one.
func noOutput(name string, in component.Data, err error) error {
	if in.Names == nil {
		return err
	}
	meant := ""
	if near := display.Nearest(name, in.Names); near != "" {
		meant = fmt.Sprintf(" (did you mean %q?)", near)
	}
	return fmt.Errorf("there is no output %q%s; the outputs are %s", name, meant, listed(in.Names))
}

const maxListed = 20

// listed lists names of outputs, and the number of further ones if there are
// many.
func listed(names []string) string {
	shown := make([]string, min(len(names), maxListed))
	for i := range shown {
		shown[i] = display.Name(names[i])
	}
	if more := len(names) - maxListed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(shown, ", "), more)
	}
	return strings.Join(shown, ", ")
}

// checkSingle refuses parameters that are wrong for a single dataset.
func (p *place) checkSingle() error {
	if c, ok := component.As[component.SingleChecker](p.params); ok && !p.stdout {
		return c.CheckSingle()
	}
	return nil
}

// checkOutputs refuses places that cannot fit the outputs of a component, as
// far as these are known before it has run.
func (p *places) checkOutputs(c *component.Component) error {
	if len(p.list) == 0 {
		return fmt.Errorf("%s %s: no output; give -o PATH", c.Kind, c.Name)
	}
	if !c.Outs && len(p.list) > 1 {
		return fmt.Errorf("%s %s has one output, not %d; give one -o", c.Kind, c.Name, len(p.list))
	}
	if !c.Outs && p.list[0].name != "" {
		return fmt.Errorf("%s %s: its output has no name; write -o, not -o.%s", c.Kind, c.Name, p.list[0].name)
	}
	seen := map[string]string{}
	for _, o := range p.list {
		if err := o.checkSingle(); err != nil && (len(p.list) > 1 || o.name != "") { // otherwise the flow checks it
			return fmt.Errorf("%s: %w", o.flag, err)
		}
		if o.stdout {
			if seen["-"] != "" {
				return fmt.Errorf("%s and %s are the same path", seen["-"], o.flag)
			}
			seen["-"] = o.flag
			continue
		}
		path := urlpath.Spelled(o.path)
		if !urlpath.Is(o.path) {
			var err error
			if path, err = filepath.Abs(o.path); err != nil {
				return err
			}
		}
		if other, ok := seen[path]; ok {
			return fmt.Errorf("%s and %s are the same path", other, o.flag)
		}
		seen[path] = o.flag
	}
	return nil
}
