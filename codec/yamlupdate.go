package codec

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// updateYAML writes v over a document: see [Codec.Update]. It replaces the
// scalars that differ and adds what is new, and reads the result: if that is not
// v, as where an anchor was changed that is used elsewhere, or where something
// is to be taken away, all is written as Encode does.
func updateYAML(old []byte, v any) ([]byte, error) {
	whole, err := encodeYAML(v)
	if err != nil {
		return nil, err
	}
	if v, err = decodeYAML(whole, nil); err != nil {
		return nil, err
	}
	doc, err := parseYAML(old)
	if err != nil || doc == nil {
		return whole, err
	}
	u := &yamlUpdate{old: old}
	if u.value(doc, v) != nil {
		return whole, nil
	}
	out := u.apply()
	if got, err := decodeYAML(out, nil); err != nil || !sameDocument(got, v) {
		return whole, nil
	}
	return out, nil
}

// errSplice says that a document cannot be changed in place.
var errSplice = errors.New("cannot be changed in place")

// A yamlUpdate collects what changes in a document.
type yamlUpdate struct {
	old   []byte
	lines []int // where each starts
	edits []yamlEdit
}

// A yamlEdit puts text in place of some bytes.
type yamlEdit struct {
	from, to int
	text     string
}

func (u *yamlUpdate) apply() []byte {
	slices.SortStableFunc(u.edits, func(a, b yamlEdit) int { return cmp.Compare(a.from, b.from) })
	var out []byte
	at := 0
	for _, e := range u.edits {
		out = append(append(out, u.old[at:max(e.from, at)]...), e.text...)
		at = max(e.to, at)
	}
	return append(out, u.old[at:]...)
}

// value notes what must change for a node to be v.
func (u *yamlUpdate) value(n *yaml.Node, v any) error {
	have, err := yamlReader{}.value(n)
	if err != nil {
		return err
	}
	if sameDocument(have, v) {
		return nil
	}
	if was, ok := have.(map[string]any); ok && n.Kind == yaml.MappingNode {
		if now, ok := v.(map[string]any); ok {
			return u.mapping(n, was, now)
		}
	}
	if was, ok := have.([]any); ok && n.Kind == yaml.SequenceNode {
		if now, ok := v.([]any); ok {
			return u.sequence(n, was, now)
		}
	}
	return u.replace(n, v)
}

func (u *yamlUpdate) mapping(n *yaml.Node, was, now map[string]any) error {
	for k := range was {
		if _, ok := now[k]; !ok {
			return errSplice
		}
	}
	written := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Tag == "!!merge" {
			continue
		}
		k, err := yamlReader{}.key(n.Content[i])
		if err != nil {
			return err
		}
		written[k] = true
		if err := u.value(n.Content[i+1], now[k]); err != nil {
			return err
		}
	}
	var added []string
	for _, k := range slices.Sorted(maps.Keys(now)) {
		if merged, ok := was[k]; written[k] || ok && sameDocument(merged, now[k]) {
			continue
		}
		key, err := yamlText(k)
		if err != nil {
			return err
		}
		name, err := onOneLine(key)
		if err != nil {
			return err
		}
		text, err := u.text(now[k])
		if err != nil {
			return err
		}
		added = append(added, name+": "+text)
	}
	return u.add(n, added, "")
}

func (u *yamlUpdate) sequence(n *yaml.Node, was, now []any) error {
	if len(now) < len(was) {
		return errSplice
	}
	for i, c := range n.Content {
		if err := u.value(c, now[i]); err != nil {
			return err
		}
	}
	var added []string
	for _, v := range now[len(was):] {
		text, err := u.text(v)
		if err != nil {
			return err
		}
		added = append(added, text)
	}
	return u.add(n, added, "- ")
}

// text writes a value on one line.
func (u *yamlUpdate) text(v any) (string, error) {
	n, err := yamlNode(v, 0)
	if err != nil {
		return "", err
	}
	return onOneLine(n)
}

func onOneLine(n *yaml.Node) (string, error) {
	flow(n)
	b, err := yaml.Dump(n, yaml.WithLineWidth(-1))
	if text := strings.TrimSuffix(string(b), "\n"); err == nil && !strings.Contains(text, "\n") {
		return text, nil
	}
	return "", errSplice
}

// flow has collections written between brackets.
func flow(n *yaml.Node) {
	if n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode {
		n.Style |= yaml.FlowStyle
	}
	for _, c := range n.Content {
		flow(c)
	}
}

// add adds parts to the end of a collection; bullet comes before each on a line.
func (u *yamlUpdate) add(n *yaml.Node, added []string, bullet string) error {
	if len(added) == 0 {
		return nil
	}
	if n.Style&yaml.FlowStyle != 0 {
		return u.addInFlow(n, added)
	}
	if len(n.Content) == 0 {
		return errSplice
	}
	column := n.Content[0].Column
	if bullet != "" {
		if column = n.Column; n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 {
			return errSplice
		}
	}
	last := n.Content[len(n.Content)-1]
	end, err := u.end(last)
	if err != nil {
		return err
	}
	indent := strings.Repeat(" ", column-1) + bullet
	if end > 0 && u.old[end-1] == '\n' && blockScalar(last) { // the line after it
		u.edits = append(u.edits, yamlEdit{end, end, indent + strings.Join(added, "\n"+indent) + "\n"})
		return nil
	}
	if eol := bytes.IndexByte(u.old[end:], '\n'); eol >= 0 {
		end += eol
	} else {
		end = len(u.old)
	}
	if end > 0 && u.old[end-1] == '\r' {
		end--
	}
	u.edits = append(u.edits, yamlEdit{end, end, "\n" + indent + strings.Join(added, "\n"+indent)})
	return nil
}

// blockScalar reports whether the last thing in a node is a text of lines of its
// own.
func blockScalar(n *yaml.Node) bool {
	for n.Kind != yaml.ScalarNode && len(n.Content) > 0 && n.Style&yaml.FlowStyle == 0 {
		n = n.Content[len(n.Content)-1]
	}
	return n.Kind == yaml.ScalarNode && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
}

func (u *yamlUpdate) addInFlow(n *yaml.Node, added []string) error {
	end, err := u.end(n)
	if err != nil {
		return err
	}
	if c := u.old[end-1]; c != '}' && c != ']' {
		return errSplice
	}
	inside := bytes.TrimRight(u.old[:end-1], " \t\r\n")
	text := strings.Join(added, ", ")
	if len(n.Content) > 0 && inside[len(inside)-1] != ',' {
		text = ", " + text
	}
	u.edits = append(u.edits, yamlEdit{len(inside), len(inside), text})
	return nil
}

// replace puts another value in place of a node, its anchor and its tag.
func (u *yamlUpdate) replace(n *yaml.Node, v any) error {
	text, err := u.text(v)
	if err != nil {
		return err
	}
	from, to := u.start(n), 0
	if to, err = u.end(n); err != nil {
		return err
	}
	switch {
	case from == to: // nothing is written for null
		text = " " + text
	case n.Style&yaml.FlowStyle == 0 && (n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode): // on lines of its own
		from = len(bytes.TrimRight(u.old[:from], " \t\r\n"))
		text = " " + text
		if blockScalar(n) {
			text += "\n"
		}
	case blockScalar(n):
		text += "\n"
	}
	u.edits = append(u.edits, yamlEdit{from, to, text})
	return nil
}

// start is where a node begins.
func (u *yamlUpdate) start(n *yaml.Node) int {
	if u.lines == nil {
		u.lines = []int{0}
		for i, c := range u.old {
			if c == '\n' {
				u.lines = append(u.lines, i+1)
			}
		}
	}
	if n.Line < 1 || n.Line > len(u.lines) {
		return len(u.old)
	}
	at := u.lines[n.Line-1]
	for range n.Column - 1 { // columns count characters
		_, size := utf8.DecodeRune(u.old[at:])
		at += size
	}
	return at
}

// end is where a node ends.
func (u *yamlUpdate) end(n *yaml.Node) (int, error) {
	at := u.content(n)
	switch {
	case n.Kind == yaml.AliasNode:
		return at + 1 + len(n.Value), nil
	case n.Kind == yaml.ScalarNode:
		return u.endOfScalar(n, at)
	case len(n.Content) == 0 && n.Style&yaml.FlowStyle == 0:
		return 0, errSplice
	}
	after := at + 1
	if len(n.Content) > 0 {
		var err error
		if after, err = u.end(n.Content[len(n.Content)-1]); err != nil {
			return 0, err
		}
	}
	if n.Style&yaml.FlowStyle == 0 || at >= len(u.old) || u.old[at] != '{' && u.old[at] != '[' {
		return after, nil
	}
	return u.closing(after)
}

// content is where a node's text begins, behind its anchor and its tag.
func (u *yamlUpdate) content(n *yaml.Node) int {
	at := u.start(n)
	for at < len(u.old) && (u.old[at] == '&' || u.old[at] == '!') {
		for at < len(u.old) && !bytes.ContainsRune([]byte(" \t\r\n"), rune(u.old[at])) {
			at++
		}
		for at < len(u.old) && (u.old[at] == ' ' || u.old[at] == '\t') {
			at++
		}
	}
	return at
}

// closing returns the end of the bracket that comes next.
func (u *yamlUpdate) closing(at int) (int, error) {
	for ; at < len(u.old); at++ {
		switch u.old[at] {
		case '}', ']':
			return at + 1, nil
		case '#':
			eol := bytes.IndexByte(u.old[at:], '\n')
			if eol < 0 {
				return 0, errSplice
			}
			at += eol
		case ' ', '\t', '\r', '\n', ',', ':':
		default:
			return 0, errSplice
		}
	}
	return 0, errSplice
}

func (u *yamlUpdate) endOfScalar(n *yaml.Node, at int) (int, error) {
	rest := u.old[at:]
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		for i := 1; i < len(rest); i++ {
			switch rest[i] {
			case '\\':
				i++
			case '"':
				return at + i + 1, nil
			}
		}
	case n.Style&yaml.SingleQuotedStyle != 0:
		for i := 1; i < len(rest); i++ {
			if rest[i] != '\'' {
				continue
			}
			if i++; i == len(rest) || rest[i] != '\'' {
				return at + i, nil
			}
		}
	case blockScalar(n):
		return u.endOfBlock(at), nil
	default:
		if size, ok := plainSize(rest, n.Value); ok {
			return at + size, nil
		}
	}
	return 0, errSplice
}

// plainSize returns how many bytes a scalar without quotes takes, which may go
// over several lines: a line break stands for a blank, and each further one for
// itself.
func plainSize(b []byte, value string) (int, bool) {
	at := 0
	for value != "" {
		if at >= len(b) {
			return 0, false
		}
		space := len(b[at:]) - len(bytes.TrimLeft(b[at:], " \t\r\n"))
		text := string(b[at : at+max(space, 1)])
		if breaks := strings.Count(text, "\n"); breaks == 1 {
			text = " "
		} else if breaks > 1 {
			text = strings.Repeat("\n", breaks-1)
		}
		if !strings.HasPrefix(value, text) {
			return 0, false
		}
		space = max(space, 1)
		at, value = at+space, value[len(text):]
	}
	return at, true
}

// endOfBlock is the start of the first line behind a text of lines of its own:
// the first that is not empty and is indented less than the first of the text.
func (u *yamlUpdate) endOfBlock(at int) int {
	indent := -1
	for {
		eol := bytes.IndexByte(u.old[at:], '\n')
		if eol < 0 {
			return len(u.old)
		}
		at += eol + 1
		line, _, _ := bytes.Cut(u.old[at:], []byte{'\n'})
		text := bytes.TrimLeft(line, " ")
		if len(bytes.TrimRight(text, "\r")) == 0 {
			continue
		}
		depth := len(line) - len(text)
		if indent < 0 {
			indent = max(depth, 1)
		}
		if depth < indent {
			return at
		}
	}
}
