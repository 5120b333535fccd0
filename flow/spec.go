package flow

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/larder-data/larder/cache"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/internal/text/display"
	"go.yaml.in/yaml/v4"
)

// A Node is one node of a flow.
type Node struct {
	Name      string
	Base      string // its name in the file: Name without the values of a sweep
	Dir       string // where its relative paths start; "" for the flow's directory
	Component *component.Component
	Params    any // a value of Component.Type
	From      []Input
	Options   Options

	pos  *yaml.Node // position of the node's name; nil if built in Go
	with *yaml.Node // position of its parameters
	file *problems  // of the node's file; nil if built in Go

	ownOnError bool     // on-error is not from the defaults
	varied     []string // parameters that use variables
}

// An Input names an input of a node: all outputs of another node, or one of
// them.
type Input struct {
	Node   string
	Output string // "" for all
	pos    *yaml.Node
}

func (i Input) String() string {
	if i.Output == "" {
		return i.Node
	}
	return i.Node + "." + i.Output
}

// Options say what a node caches and how it works.
type Options struct {
	// Keep stores each requested sample across runs.
	Keep bool
	// Checkpoint computes, stores and pins all samples before any reader of the
	// node runs.
	Checkpoint bool
	// Auto makes the node a checkpoint if that takes less time than computing
	// its samples for each read.
	Auto bool
	// Cache holds decoded samples in memory; nil means no cache.
	Cache *cache.Options
	// OnError applies to samples that a source or a mapper cannot compute; nil
	// means the option of the run.
	OnError *OnError
	// Workers bounds how many samples are computed concurrently; 0 means the
	// bound of the run.
	Workers int
}

type parser struct {
	*problems
	vars     map[string]*yaml.Node
	outer    map[string]*yaml.Node // values given from outside
	swept    []string              // variables that take several values
	sweeps   []sweep
	defaults Options
	bounds   Limits
	raw      []*rawNode
	rawNamed map[string]*rawNode
	nodes    []*Node

	dir      string      // of the file
	chain    []string    // the files that include one another, this one last
	texts    *texts      // all files that were read
	included []*problems // of the files that this one includes
}

var (
	topFields  = []string{"version", "vars", "profiles", "sweep", "include", "limits", "defaults", "nodes"}
	nodeFields = []string{"source", "map", "op", "sink", "with", "from", "folder", "keep", "checkpoint", "cache", "workers", "on-error"}
	optFields  = []string{"keep", "checkpoint", "cache", "workers", "on-error"}
	nodeName   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_-]*$`)
)

// Parse reads a flow file. vars override the variables of the file: each value
// is a YAML scalar. Parse returns all errors as Errors. It reads only the file
// and its includes, and runs nothing.
func Parse(file string, content []byte, vars map[string]string) (*Flow, error) {
	return parse(file, content, vars, ReadFile)
}

func newParser(p *problems, file string, all *texts, outer map[string]*yaml.Node) *parser {
	return &parser{problems: p, vars: map[string]*yaml.Node{}, outer: outer, dir: filepath.Dir(file), chain: []string{file}, texts: all}
}

// read reads a document up to its raw nodes.
func (p *parser) read(content []byte) {
	if root := document(content, p.problems); root != nil && len(p.list) == 0 {
		p.top(root)
	}
}

// flowName returns the name of a flow in reports: the file's name, or the
// directory's for a file called flow.yaml.
func flowName(file string) string {
	abs, err := filepath.Abs(file)
	if err != nil {
		abs = file
	}
	name := strings.TrimSuffix(filepath.Base(abs), filepath.Ext(abs))
	if name == "flow" {
		return filepath.Base(filepath.Dir(abs))
	}
	return name
}

// top reads the fields of a flow. It only lists nodes, because they are read
// when the values of all variables are known.
func (p *parser) top(root *yaml.Node) {
	if root.Kind != yaml.MappingNode {
		p.at(root, "a flow must be a mapping that begins with version: 1, not %s", kindName(root))
		return
	}
	byName, misspelt := map[string]field{}, false
	for _, f := range p.fields(root, "a flow") {
		if strings.HasPrefix(f.key.Value, "x-") { // holds anchors
			continue
		}
		if !slices.Contains(topFields, f.key.Value) {
			p.unknown(f.key, "a flow", topFields)
			misspelt = true
		}
		byName[f.key.Value] = f
	}
	if v, ok := byName["version"]; !ok {
		p.at(root, "the version of the flow is missing; add version: 1")
	} else if v.value.Value != "1" {
		p.at(v.value, "version %s is not supported; this program reads version 1", v.value.Value)
	}
	if s, ok := byName["sweep"]; ok && s.value.Kind == yaml.MappingNode {
		for i := 0; i < len(s.value.Content); i += 2 {
			p.swept = append(p.swept, s.value.Content[i].Value)
		}
	}
	if v, ok := byName["vars"]; ok {
		p.readVars(v.value)
	}
	if v, ok := byName["sweep"]; ok {
		p.sweeps = p.sweep(v.value)
	}
	if v, ok := byName["include"]; ok {
		p.include(v.value)
	}
	if f, ok := byName["profiles"]; ok {
		p.checkProfiles(f)
	}
	if l, ok := byName["limits"]; ok {
		p.bounds = p.limits(l)
	}
	if d, ok := byName["defaults"]; ok {
		p.defaults = p.options(p.fields(p.expand(d.value), "defaults"), Options{}, "defaults", optFields)
	}
	n, ok := byName["nodes"]
	if _, includes := byName["include"]; !ok && !includes {
		if !misspelt {
			p.at(root, "the flow has no nodes; add nodes")
		}
	}
	if ok {
		for _, f := range p.fields(n.value, "nodes") {
			p.raw = append(p.raw, &rawNode{field: f, parser: p})
		}
	}
}

// readVars reads the variables of a file. Values given from outside replace
// those of the file.
func (p *parser) readVars(n *yaml.Node) {
	m := maker{parser: p, made: map[string]*yaml.Node{}, own: map[string]*yaml.Node{}}
	for _, f := range p.fields(n, "vars") {
		m.names = append(m.names, f.key.Value)
		if v, ok := p.outer[f.key.Value]; ok {
			m.made[f.key.Value] = v // literally
		} else {
			m.own[f.key.Value] = f.value
		}
	}
	for _, name := range m.names {
		m.make(name)
	}
	p.vars = m.made
}

// maker computes variables that depend on others.
type maker struct {
	*parser
	names []string
	own   map[string]*yaml.Node // as written
	made  map[string]*yaml.Node
	chain []string // those in progress
}

// make computes a variable after the variables that it depends on.
func (m *maker) make(name string) {
	n, ok := m.own[name]
	if !ok || m.made[name] != nil {
		return
	}
	if i := slices.Index(m.chain, name); i >= 0 {
		m.at(n, "variable %s depends on itself: %s", name, strings.Join(append(m.chain[i:], name), " <- "))
		m.made[name] = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Line: n.Line, Column: n.Column}
		return
	}
	m.chain = append(m.chain, name)
	for _, of := range variablesIn(n) {
		m.make(of)
	}
	m.chain = m.chain[:len(m.chain)-1]
	if m.made[name] == nil {
		m.vars = m.made
		m.made[name] = m.expand(n)
	}
}

func variablesIn(n *yaml.Node) []string {
	names := VarsIn(n.Value)
	for _, c := range n.Content {
		names = append(names, variablesIn(c)...)
	}
	return names
}

// values parses values given from outside. Each is a scalar, by default a
// string.
func values(vars map[string]string) map[string]*yaml.Node {
	all := map[string]*yaml.Node{}
	for name, text := range vars {
		all[name] = scalarOf(text)
	}
	return all
}

// scalarOf parses a scalar on its own. It takes a value literally as a string
// if YAML would drop a part of it, such as line breaks, surrounding blanks or
// an apparent comment.
func scalarOf(text string) *yaml.Node {
	as := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	var n yaml.Node
	if strings.ContainsAny(text, "\n\r\u0085\u2028\u2029") || yaml.Load([]byte(text), &n) != nil || n.Kind != yaml.DocumentNode {
		return as
	}
	switch c := n.Content[0]; {
	case c.Kind != yaml.ScalarNode || c.Anchor != "":
	case c.Style&yaml.TaggedStyle != 0:
		return c
	case c.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		if len(text) > 1 && text[0] == text[len(text)-1] {
			return c
		}
	case c.Value == text || c.ShortTag() != "!!str" && c.Value == strings.TrimSpace(text):
		return c
	}
	return as
}

// checkSet refuses values for undefined variables.
func (p *parser) checkSet(vars map[string]string) {
	valid := p.settable()
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if !slices.Contains(valid, name) {
			p.add(0, 0, fmt.Sprintf("the flow has no variable %q to set%s", name, component.Suggest(name, valid)))
		}
	}
}

func (p *parser) settable() []string {
	return append(slices.Sorted(maps.Keys(p.vars)), p.swept...)
}

func (p *parser) node(f field) (n *Node, ok bool) {
	n = &Node{Name: f.key.Value, pos: f.key, file: p.problems, varied: variedIn(f.value)}
	if len(p.chain) > 1 {
		n.Dir = p.dir
	}
	if !nodeName.MatchString(n.Name) {
		p.at(f.key, "%q cannot name a node; use letters, digits, _ and - only", n.Name)
	}
	before := len(p.list)
	fields := p.fields(p.expand(f.value), "node "+n.Name)
	n.Options = p.options(fields, p.defaults, "node "+n.Name, nodeFields)
	n.with = f.key
	var with []field
	for _, f := range fields {
		switch f.key.Value {
		case "with":
			n.with, with = f.key, p.fields(f.value, "with")
		case "from":
			n.From = p.from(f.value)
		case "folder":
			n.Dir = p.directory(f)
		case "on-error":
			n.ownOnError = true
		case "source", "map", "op", "sink":
			p.component(n, f)
		}
	}
	if n.Component == nil {
		if len(p.list) == before && !slices.ContainsFunc(fields, func(f field) bool { return slices.Contains(nodeFields[:4], f.key.Value) }) {
			p.at(f.key, "node %s has no kind; add source, map, op or sink", n.Name)
		}
		return nil, false
	}
	n.Params = p.params(n.Component, n.with, with)
	return n, true
}

func (p *parser) directory(f field) string {
	dir := f.value.Value
	switch {
	case f.value.Kind != yaml.ScalarNode || dir == "":
		p.at(f.value, "folder must be the path of a directory")
	case !filepath.IsAbs(dir):
		return filepath.Join(p.dir, dir)
	}
	return filepath.Clean(dir)
}

func (p *parser) component(n *Node, f field) {
	if n.Component != nil {
		p.at(f.key, "node %s is both %s and %s; give one of source, map, op, sink", n.Name, n.Component.Kind, f.key.Value)
		return
	}
	c, err := component.Find(component.Kind(f.key.Value), f.value.Value)
	if err != nil {
		p.wrong(f.value, err)
		return
	}
	n.Component = c
}

// from reads the inputs of a node: NODE, NODE.output, or a list or map of
// these.
func (p *parser) from(n *yaml.Node) []Input {
	switch n.Kind {
	case yaml.ScalarNode:
		node, output, _ := strings.Cut(n.Value, ".")
		return []Input{{Node: node, Output: output, pos: n}}
	case yaml.SequenceNode:
		var all []Input
		for _, e := range n.Content {
			all = append(all, p.from(e)...)
		}
		return all
	default:
		var all []Input
		for _, f := range p.fields(n, "from") {
			all = append(all, p.from(f.value)...)
		}
		return all
	}
}

// options reads the node options among the given fields, over those of base.
func (p *parser) options(fields []field, base Options, what string, valid []string) Options {
	o := base
	for _, f := range fields {
		switch f.key.Value {
		case "keep":
			o.Keep = p.truth(f)
		case "checkpoint":
			if o.Auto = f.value.Value == "auto"; !o.Auto {
				o.Checkpoint = p.truth(f)
			}
		case "workers":
			o.Workers = int(p.whole(f, 1, 1<<16))
		case "cache":
			o.Cache = p.cache(f)
		case "on-error":
			o.OnError = p.onError(f)
		default:
			if !slices.Contains(valid, f.key.Value) {
				p.unknown(f.key, what, valid)
			}
		}
	}
	return o
}

// cache reads the options of the memory cache; nil means none.
func (p *parser) cache(f field) *cache.Options {
	o := &cache.Options{}
	if f.value.Kind == yaml.ScalarNode && f.value.ShortTag() == "!!bool" && f.value.Value == "false" {
		return nil
	}
	valid, before := []string{"policy", "size", "bytes"}, len(p.list)
	for _, g := range p.fields(f.value, "cache") {
		switch g.key.Value {
		case "policy":
			o.Policy = g.value.Value
			if !slices.Contains(cachePolicies(), o.Policy) {
				p.at(g.value, "unknown cache policy %q%s", o.Policy, component.Suggest(o.Policy, cachePolicies()))
			}
		case "size":
			o.Size = int(p.whole(g, 1, 1<<40))
		case "bytes":
			n, err := display.ParseSize(g.value.Value)
			if err != nil {
				p.at(g.value, "bytes: %q %v", g.value.Value, err)
			}
			o.Bytes = n
		default:
			p.unknown(g.key, "cache", valid)
		}
	}
	if o.Policy == "" && len(p.list) == before {
		p.at(f.key, "cache must name its policy: one of %s", strings.Join(cachePolicies(), ", "))
	}
	if o.Size == 0 && o.Bytes == 0 && o.Policy != "memo" {
		o.Bytes = defaultCacheBytes
	}
	return o
}

// cachePolicies lists the policies that a node can name.
func cachePolicies() []string { return append(cache.Policies(), optPolicy) }

const defaultCacheBytes = 256 << 20

func (p *parser) truth(f field) bool {
	if f.value.Kind != yaml.ScalarNode || f.value.ShortTag() != "!!bool" {
		p.at(f.value, "%s must be true or false, not %s", f.key.Value, kindName(f.value))
	}
	return f.value.Value == "true" || f.value.Value == "True" || f.value.Value == "TRUE"
}

func (p *parser) whole(f field, low, high int64) int64 {
	v, err := strconv.ParseInt(f.value.Value, 10, 64)
	if f.value.Kind != yaml.ScalarNode || err != nil || v < low || v > high {
		p.at(f.value, "%s must be an integer from %d to %d, not %s", f.key.Value, low, high, kindName(f.value))
		return low
	}
	return v
}
