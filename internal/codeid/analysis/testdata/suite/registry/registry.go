package registry

import (
	"context"
	"slices"
	"strings"

	"github.com/larder-data/larder/lazy"
)

// The functions of this package, as lazy ones.
var (
	LazyRun   = lazy.Func1("run", Run)
	LazyNames = lazy.Func1("names", Names)
	LazyAll   = lazy.Func1("all", All)
)

// A Plugin is entered by another package.
type Plugin interface{ Do(n int) int }

// A Registry holds plugins by name.
type Registry struct {
	plugins map[string]Plugin
	names   []string
}

// Default is the one.
var Default = &Registry{plugins: map[string]Plugin{}}

// Add enters a plugin.
func (r *Registry) Add(name string, p Plugin) {
	r.plugins[name] = p
	r.names = append(r.names, name)
}

// Get finds a plugin.
func (r *Registry) Get(name string) (p Plugin, ok bool) {
	p, ok = r.plugins[name]
	return p, ok
}

// Run calls a plugin by its name.
func Run(_ context.Context, name string) (int, error) {
	p, ok := Default.Get(name)
	if !ok {
		return -1, nil
	}
	return p.Do(10), nil
}

// Names lists what was entered, in the order of entry.
func Names(_ context.Context, sep string) (string, error) {
	return strings.Join(Default.names, sep), nil
}

// Hooks are functions which others append.
var Hooks []func(string) string

// All calls the hooks.
func All(_ context.Context, s string) (string, error) {
	for _, hook := range slices.Backward(Hooks) {
		s = hook(s)
	}
	return s, nil
}
