package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder/cache"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/format/python"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/mapper"
)

func (a *app) auditCommand() *cobra.Command {
	var set variables
	var asJSON bool
	c := &cobra.Command{
		Use:   "audit FLOW",
		Short: "Show what a flow would read and write",
		Long: `Lists what a flow would read, write and run, without running it. Use it before
running a flow file from another person.

Of the components of Larder, exec runs commands and python runs functions of
Python modules; all of them are listed. The audit reads only the files of the
flow, and files whose content identifies a command.`,
		Args: words(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := a.parse(args[0], set)
			if err != nil {
				return err
			}
			au, err := newAudit(f, set, a.shownDir())
			if err != nil {
				return usageError{err}
			}
			if asJSON {
				return writeJSON(a.stdout, au)
			}
			return writeAudit(a.stdout, au)
		},
	}
	set.flags(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// An audit lists what a flow would touch.
type audit struct {
	Flow      string          `json:"flow"`
	Files     []string        `json:"files"` // the flow file and its includes
	Variables []auditVariable `json:"variables"`
	Reads     []auditRead     `json:"reads"`
	Writes    []auditWrite    `json:"writes"`
	Commands  []auditCommand  `json:"commands"`
	Functions []auditFunction `json:"functions"`
	Random    []auditRandom   `json:"random"`
	Keeps     []auditKeep     `json:"keeps"`
	Cache     string          `json:"cache"` // the cache directory
}

// auditPath is a file or directory that a node names.
type auditPath struct {
	Node    string `json:"node"`
	Path    string `json:"path"`
	Real    string `json:"real,omitempty"` // where links lead, if different
	What    string `json:"what"`           // file, directory, other, missing or url
	Outside bool   `json:"outside"`        // of the flow's directory
}

type auditRead struct{ auditPath }

type auditWrite struct {
	auditPath
	Overwrite string `json:"overwrite,omitempty"`
	Copy      string `json:"copy,omitempty"` // how items in files are written
}

type auditCommand struct {
	Node    string     `json:"node"`
	Command []string   `json:"command"`
	Program string     `json:"program"` // "" if there is no program of that name
	Code    []string   `json:"code"`    // files whose content is part of the identity of results
	Env     []auditEnv `json:"env"`
}

// auditFunction is a Python function, which may do anything that a command may.
type auditFunction struct {
	Node        string   `json:"node"`
	Function    string   `json:"function"`
	Setup       string   `json:"setup,omitempty"`
	Interpreter string   `json:"interpreter,omitempty"` // "" for the default
	Files       []string `json:"files"`                 // its module, if next to the flow, and its arguments
}

// auditEnv is an environment variable that a command gets. Its value may be a
// secret.
type auditEnv struct {
	Name string `json:"name"`
	Set  bool   `json:"set"`
}

type auditRandom struct {
	Node      string `json:"node"`
	Component string `json:"component"`
	Seed      int    `json:"seed"`
	Epoch     int    `json:"epoch"`
}

type auditKeep struct {
	Node       string `json:"node"`
	Keep       bool   `json:"keep"`
	Checkpoint string `json:"checkpoint"` // true, auto or false
	Cache      string `json:"cache,omitempty"`
}

func newAudit(f *flow.Flow, set variables, cacheDir string) (*audit, error) {
	au := &audit{
		Flow: f.Name, Files: f.Files, Cache: cacheDir,
		Reads: []auditRead{}, Writes: []auditWrite{}, Commands: []auditCommand{}, Functions: []auditFunction{}, Random: []auditRandom{}, Keeps: []auditKeep{},
	}
	var err error
	if au.Variables, err = findVariables(f.Files, set); err != nil {
		return nil, err
	}
	for _, n := range f.Nodes {
		t := touchesOf(f, n)
		for _, p := range t.reads {
			au.Reads = append(au.Reads, auditRead{pathOf(f, n, p)})
		}
		for _, p := range t.far {
			au.Reads = append(au.Reads, auditRead{auditPath{Node: n.Name, Path: p, What: "url", Outside: true}})
		}
		for _, p := range t.sends {
			au.Writes = append(au.Writes, auditWrite{auditPath{Node: n.Name, Path: p, What: "url", Outside: true}, textParam(n, "overwrite"), textParam(n, "copy")})
		}
		for _, p := range t.writes {
			au.Writes = append(au.Writes, auditWrite{pathOf(f, n, p), textParam(n, "overwrite"), textParam(n, "copy")})
		}
		component.Walk(n.Component, n.Params, func(c *component.Component, params any) {
			if e, ok := params.(mapper.Exec); ok {
				au.Commands = append(au.Commands, commandOf(envOf(f, n), n, e))
			}
			if fn, ok := functionOf(params); ok {
				fn.Node, fn.Files = n.Name, []string{}
				for _, in := range params.(component.Reader).Inputs(envOf(f, n)) {
					fn.Files = append(fn.Files, in.Path)
				}
				au.Functions = append(au.Functions, fn)
			}
			if r, ok := randomOf(envOf(f, n), c, params); ok {
				r.Node = n.Name
				au.Random = append(au.Random, r)
			}
		})
		if o := n.Options; o.Keep || o.Checkpoint || o.Auto || o.Cache != nil {
			au.Keeps = append(au.Keeps, keepOf(n))
		}
	}
	return au, nil
}

func pathOf(f *flow.Flow, n *flow.Node, path string) auditPath {
	p := auditPath{Node: n.Name, Path: path, What: "missing"}
	real := pathguard.Resolve(path)
	if real != path {
		p.Real = real
	}
	p.Outside = !pathguard.Inside(pathguard.Resolve(f.Dir), real)
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		p.What = "directory"
	case err == nil && info.Mode().IsRegular():
		p.What = "file"
	case !errors.Is(err, fs.ErrNotExist):
		p.What = "other"
	}
	return p
}

// functionOf returns the Python function that parameters name, if any.
func functionOf(params any) (f auditFunction, ok bool) {
	switch p := params.(type) {
	case mapper.Python:
		return auditFunction{Function: p.Function, Setup: p.Setup, Interpreter: p.Interpreter}, true
	case python.Source:
		return auditFunction{Function: p.Function, Setup: p.Setup, Interpreter: p.Interpreter}, true
	}
	return f, false
}

func commandOf(env *component.Env, n *flow.Node, e mapper.Exec) auditCommand {
	files, _ := e.Files(env)
	c := auditCommand{Node: n.Name, Command: e.Command, Code: files, Env: []auditEnv{}}
	for _, p := range e.Code {
		c.Code = append(c.Code, env.Path(p))
	}
	slices.Sort(c.Code)
	c.Code = append([]string{}, slices.Compact(c.Code)...)
	c.Program, _ = exec.LookPath(e.Command[0])
	if own := env.Path(component.Path(e.Command[0])); slices.Contains(c.Code, own) {
		c.Program = own
	}
	for _, name := range e.Variables() {
		if _, set := os.LookupEnv(name); !slices.Contains(c.Env, auditEnv{name, set}) {
			c.Env = append(c.Env, auditEnv{name, set})
		}
	}
	return c
}

// randomOf reports whether a component draws random numbers. Mappers report it
// themselves. Any other component does if it has a seed, unless it has a
// probability that is not set.
func randomOf(env *component.Env, c *component.Component, params any) (r auditRandom, ok bool) {
	r.Component = c.Name
	if c.Kind == component.Map {
		if len(component.Steps(params)) > 0 {
			return r, false // it is queried itself
		}
		m, err := c.Mapper(env, params)
		transform, is := m.(dataset.Transform)
		if err != nil || !is || transform.Random() == nil {
			return r, false
		}
		r.Seed, r.Epoch = transform.Random().Seed, transform.Random().Epoch
		return r, true
	}
	seed, ok := param[int](c, params, "seed")
	if p, has := param[*float64](c, params, "probability"); has && p == nil {
		ok = false
	}
	r.Seed = seed
	r.Epoch, _ = param[int](c, params, "epoch")
	return r, ok
}

// param returns the parameter with a name, if the component has it and it is a
// T.
func param[T any](c *component.Component, params any, name string) (v T, ok bool) {
	for _, p := range c.Params {
		if p.Name == name {
			v, ok = reflect.ValueOf(params).Field(p.Field).Interface().(T)
		}
	}
	return v, ok
}

func textParam(n *flow.Node, name string) string {
	for _, p := range n.Component.Params {
		if v := reflect.ValueOf(n.Params).Field(p.Field); p.Name == name && v.Kind() == reflect.String {
			return v.String()
		}
	}
	return ""
}

func keepOf(n *flow.Node) auditKeep {
	k := auditKeep{Node: n.Name, Keep: n.Options.Keep, Checkpoint: strconv.FormatBool(n.Options.Checkpoint)}
	if n.Options.Auto {
		k.Checkpoint = "auto"
	}
	if c := n.Options.Cache; c != nil {
		k.Cache = cacheText(*c)
	}
	return k
}

func cacheText(c cache.Options) string {
	text := c.Policy
	if c.Size > 0 {
		text += fmt.Sprintf(", %d %s at most", c.Size, plural(int64(c.Size), "sample"))
	}
	if c.Bytes > 0 {
		text += ", " + size(c.Bytes) + " at most"
	}
	return text
}

func writeAudit(w io.Writer, au *audit) error {
	var b strings.Builder
	fmt.Fprintf(&b, "flow %s: %s\n", plain(au.Flow), plainList(au.Files))
	section(&b, "variables", au.Variables, func(v auditVariable) string {
		used := "not used"
		if len(v.Used) > 0 {
			used = "used in " + plainList(v.Used)
		}
		return fmt.Sprintf("%s = %s\t%s", plain(v.Name), strings.Join(v.plainValues(), " | "), used)
	})
	section(&b, "reads", au.Reads, func(r auditRead) string {
		return fmt.Sprintf("%s\t%s", plain(r.Node), r.text(r.What))
	})
	section(&b, "writes", au.Writes, func(r auditWrite) string {
		text := r.text("there already")
		if r.What == "missing" {
			text = r.text("new")
		}
		if r.Overwrite != "" {
			text += "; overwrite: " + r.Overwrite
		}
		if r.Copy != "" {
			text += "; copy: " + r.Copy
		}
		return fmt.Sprintf("%s\t%s", plain(r.Node), text)
	})
	section(&b, "runs commands, once for each sample, with all rights of the user", au.Commands, auditCommand.text)
	section(&b, "calls functions of Python, with the same rights", au.Functions, auditFunction.text)
	section(&b, "draws at random", au.Random, func(r auditRandom) string {
		return fmt.Sprintf("%s\t%s, seed %d, epoch %d", plain(r.Node), plain(r.Component), r.Seed, r.Epoch)
	})
	section(&b, "keeps results", au.Keeps, func(k auditKeep) string {
		var texts []string
		if k.Keep {
			texts = append(texts, "keep")
		}
		if k.Checkpoint != "false" {
			texts = append(texts, strings.TrimSuffix("checkpoint: "+k.Checkpoint, ": true"))
		}
		if k.Cache != "" {
			texts = append(texts, "in memory: "+k.Cache)
		}
		return fmt.Sprintf("%s\t%s", plain(k.Node), strings.Join(texts, "; "))
	})
	fmt.Fprintf(&b, "cache directory: %s\nnothing was run\n", plain(au.Cache))
	_, err := io.WriteString(w, b.String())
	return written(err)
}

// section writes a title and a line for each element of a list.
func section[T any](w io.Writer, title string, list []T, line func(T) string) {
	if len(list) == 0 {
		fmt.Fprintf(w, "%s: none\n", title)
		return
	}
	fmt.Fprintf(w, "%s:\n", title)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, e := range list {
		fmt.Fprintf(t, "  %s\n", line(e))
	}
	t.Flush()
}

// text describes the path and its location.
func (p auditPath) text(what string) string {
	text := plain(p.Path)
	if p.Real != "" {
		text += ", which is " + plain(p.Real)
	}
	text += " (" + what
	if p.Outside {
		text += ", outside the flow's directory"
	}
	return text + ")"
}

func (c auditCommand) text() string {
	words := make([]string, len(c.Command))
	for i, w := range c.Command {
		words[i] = plainWord(w)
	}
	program := "there is no such program"
	if c.Program != "" {
		program = "which is " + plain(c.Program)
	}
	var env []string
	for _, e := range c.Env {
		text := plain(e.Name)
		if !e.Set {
			text += " (not set)"
		}
		env = append(env, text)
	}
	code := "none"
	if len(c.Code) > 0 {
		code = plainList(c.Code)
	}
	return fmt.Sprintf("%s\t%s\n  \t%s\n  \tcode: %s\n  \tenvironment: %s",
		plain(c.Node), strings.Join(words, " "), program, code, strings.Join(env, ", "))
}

func (f auditFunction) text() string {
	text := plain(f.Function)
	if f.Setup != "" {
		text += ", after " + plain(f.Setup)
	}
	if f.Interpreter != "" {
		text += ", by " + plain(f.Interpreter)
	}
	files := "none apart from the flow"
	if len(f.Files) > 0 {
		files = plainList(f.Files)
	}
	return fmt.Sprintf("%s\t%s\n  \tfiles: %s", plain(f.Node), text, files)
}

// plain returns a string unchanged, or quoted if it could be mistaken for other
// output: an untrusted flow must not be able to overwrite the report about it.
func plain(text string) string {
	if text != "" && strings.TrimSpace(text) == text && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return text
	}
	return strconv.Quote(text)
}

// plainWord is plain for words on one line.
func plainWord(word string) string {
	if strings.ContainsFunc(word, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'`\\", r) }) {
		return strconv.Quote(word)
	}
	return plain(word)
}

func plainList(list []string) string {
	texts := make([]string, len(list))
	for i, text := range list {
		texts[i] = plain(text)
	}
	return strings.Join(texts, ", ")
}
