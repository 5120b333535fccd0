package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/internal/text/urlpath"
)

// defaultFormat is the format of a place that names none.
const defaultFormat = "underfolder"

// A place is a location to read or write a dataset, as -i or -o gives it:
// [FORMAT:]PATH[,k=v]...
type place struct {
	flag      string // as the user wrote it
	name      string // of -i.NAME or -o.NAME, or ""
	path      string
	component *component.Component // a source or a sink
	params    any
	rest      []flow.Arg // the parameters except the path
	stdout    bool       // the path is -
}

// places are the values of -i or -o, given any number of times.
type places struct {
	kind        component.Kind
	flag        string    // -i or -o
	texts       []string  // as given
	list        []place   // parsed
	to          io.Writer // standard output
	allowUnused bool      // an output may have no -o
}

// Set implements pflag.Value.
func (p *places) Set(text string) error {
	p.texts = append(p.texts, text)
	return nil
}

// Type implements pflag.Value.
func (*places) Type() string { return "[FORMAT:]PATH[,k=v]..." }

func (*places) String() string { return "" }

// nameMark begins a value that came with a name; no argument of a program can
// contain it.
const nameMark = "\x00"

var namedFlag = regexp.MustCompile(`^(-[io]|--(?:input|output))\.([^./=][^=]*)(=)?`)

var inputName = regexp.MustCompile(`^[A-Za-z0-9_-]*$`)

// takesNames marks commands whose -i and -o may have names.
const takesNames = "takes names"

// withNames rewrites -i.NAME PLACE and -o.NAME PLACE, which are not valid
// flags, so that the value contains the name.
func withNames(root *cobra.Command, args []string) (out []string) {
	if c, _, err := root.Find(args); err != nil || c.Annotations[takesNames] == "" {
		return args
	}
	for i := 0; i < len(args); i++ {
		m := namedFlag.FindStringSubmatch(args[i])
		switch {
		case args[i] == "--":
			return append(out, args[i:]...)
		case m == nil:
			out = append(out, args[i])
		case m[3] == "=":
			out = append(out, m[1], nameMark+m[2]+nameMark+args[i][len(m[0]):])
		default:
			text := "" // which is refused
			if i++; i < len(args) {
				text = args[i]
			}
			out = append(out, m[1], nameMark+m[2]+nameMark+text)
		}
	}
	return out
}

// read parses the strings.
func (p *places) read() error {
	for _, text := range p.texts {
		at := place{flag: p.flag}
		if rest, ok := strings.CutPrefix(text, nameMark); ok {
			at.name, text, _ = strings.Cut(rest, nameMark)
			at.flag += "." + at.name
		}
		at.flag += " " + text
		if err := p.checkName(at.name); err != nil {
			return fmt.Errorf("%s: %w", display.Name(at.flag), err)
		}
		if err := at.read(p.kind, text); err != nil {
			return fmt.Errorf("%s: %w", display.Name(at.flag), err)
		}
		p.list = append(p.list, at)
	}
	return nil
}

// checkName refuses a name that does not fit those before it.
func (p *places) checkName(name string) error {
	switch {
	case len(p.list) > 0 && (p.list[0].name == "") != (name == ""):
		return fmt.Errorf("give every %s a name, or none", p.flag)
	case p.kind == component.Source && !inputName.MatchString(name):
		return fmt.Errorf("%q cannot name an input; use letters, digits, _ and - only", name)
	case name != "" && slices.ContainsFunc(p.list, func(other place) bool { return other.name == name }):
		return errors.New("the name is given twice")
	}
	return nil
}

// read parses [FORMAT:]PATH[,k=v]...; a comma in a path or value is doubled.
func (p *place) read(kind component.Kind, text string) (err error) {
	parts := splitCommas(text)
	if p.component, p.path, err = splitFormat(kind, parts[0]); err != nil {
		return err
	}
	p.stdout = kind == component.Sink && p.path == "-"
	if p.stdout && !slices.Contains(printed, p.component.Name) {
		return fmt.Errorf("a dataset of format %s cannot be written to standard output; %s can", p.component.Name, strings.Join(printed, " and "))
	}
	for _, part := range parts[1:] {
		name, value, ok := strings.Cut(part, "=")
		if urlpath.Is(p.path) && (!ok || !p.has(name)) { // the URL may contain a part of a credential
			return fmt.Errorf("the part after a comma is not a parameter of %s %s; write a comma in a URL twice", p.component.Kind, p.component.Name)
		}
		if !ok {
			return fmt.Errorf("%q is not NAME=VALUE; write a comma in a path twice", part)
		}
		if err := p.checkList(name, value); err != nil {
			return err
		}
		p.rest = append(p.rest, flow.Arg{Name: name, Text: value, Flag: part})
	}
	if p.params, err = p.paramsFor(p.path); err != nil {
		return err
	}
	if p.stdout && slices.ContainsFunc(p.component.Outputs(&component.Env{}, p.params), func(o pathguard.Output) bool { return o.Split }) {
		return errors.New("standard output takes one file, not shards; name a directory, or leave out shard-bytes and shard-samples")
	}
	return nil
}

// checkList refuses a list in YAML syntax: each element is a separate argument.
func (p *place) checkList(name, value string) error {
	at := p.indexOf(name)
	elements, ok := strings.CutPrefix(value, "[")
	if at < 0 || p.component.Params[at].Type.Kind() != reflect.Slice || !ok || !strings.HasSuffix(elements, "]") || !strings.Contains(elements, ",") {
		return nil
	}
	var each []string
	for element := range strings.SplitSeq(strings.TrimSuffix(elements, "]"), ",") {
		each = append(each, name+"="+strings.TrimSpace(element))
	}
	return fmt.Errorf("%s=%s: write each element of a list separately: %s", name, value, strings.Join(each, ","))
}

func (p *place) has(name string) bool { return p.indexOf(name) >= 0 }

func (p *place) indexOf(name string) int {
	return slices.IndexFunc(p.component.Params, func(param component.Param) bool { return param.Name == name })
}

// printed are the formats for standard output: those of a single file.
var printed = []string{"csv", "jsonl"}

// paramsFor returns the parameters with the given path.
func (p *place) paramsFor(path string) (any, error) {
	return flow.Params(p.component, append([]flow.Arg{{Name: placeParam(p.component), Text: path, Flag: placeParam(p.component)}}, p.rest...))
}

// splitCommas splits at commas; a doubled comma is a literal one.
func splitCommas(text string) []string {
	parts := []string{""}
	last := &parts[0]
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] != ',':
			*last += text[i : i+1]
		case strings.HasPrefix(text[i:], ",,"):
			*last += ","
			i++
		default:
			parts = append(parts, "")
			last = &parts[len(parts)-1]
		}
	}
	return parts
}

// splitFormat parses [FORMAT:]PATH. The part before the first colon is a format
// if one has that name, and otherwise part of a path, which must exist.
func splitFormat(kind component.Kind, text string) (*component.Component, string, error) {
	formats := formats(kind)
	if name, path, ok := strings.Cut(text, ":"); ok {
		if slices.Contains(formats, name) {
			c, err := component.Find(kind, name)
			return c, path, errors.Join(err, notEmpty(path))
		}
		if _, err := os.Lstat(text); err != nil && !strings.ContainsRune(name, filepath.Separator) {
			if urlpath.Is(text) {
				return nil, "", fmt.Errorf("a URL needs a format: FORMAT:%s, such as jsonl", urlpath.Name(text))
			}
			return nil, "", fmt.Errorf("there is no %s format %q (for a path with a colon, write %s:%s)%s", kind, name, defaultFormat, text, component.Suggest(name, formats))
		}
	}
	c, err := component.Find(kind, defaultFormat)
	return c, text, errors.Join(err, notEmpty(text))
}

func notEmpty(path string) error {
	if path == "" {
		return errors.New("the path is empty")
	}
	return nil
}

// placeParam returns the parameter that takes the part after FORMAT: of a
// source or a sink: path, if there is one, otherwise the first.
func placeParam(c *component.Component) string {
	if slices.ContainsFunc(c.Params, func(p component.Param) bool { return p.Name == "path" && p.TypeName() == "path" }) {
		return "path"
	}
	return c.Params[0].Name
}

func formats(kind component.Kind) (names []string) {
	for _, c := range component.All(kind) {
		if slices.ContainsFunc(c.Params, func(p component.Param) bool { return p.Name == "path" }) {
			names = append(names, c.Name)
		}
	}
	return names
}

func (p *places) checkInputs(c *component.Component) error {
	switch n := len(p.list); {
	case n == 0:
		return fmt.Errorf("%s %s: no input; give -i PATH", c.Kind, c.Name)
	case n > 1 && !c.Many:
		return fmt.Errorf("%s %s reads one dataset, not %d; join them first with op cat or op zip", c.Kind, c.Name, n)
	}
	return nil
}

// nodeName returns the name of the node that reads place number i.
func (p *places) nodeName(i int) string {
	switch {
	case p.list[i].name != "":
		return "in-" + p.list[i].name
	case len(p.list) > 1:
		return fmt.Sprintf("in-%d", i)
	default:
		return "in"
	}
}
