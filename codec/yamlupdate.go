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

// updateYAML writes v over a document: see [Codec.Update]. It replaces changed parts, adds
// new ones, and reads the result. If that is not v, or if something at the top must be
// removed, it writes everything as Encode does.
func updateYAML(old []byte, v any) ([]byte, error) {
	text := bytes.TrimPrefix(old, []byte(byteOrderMark)) // positions exclude it
	out, err := updateYAMLText(text, v)
	return append(old[:len(old)-len(text):len(old)-len(text)], out...), err
}

func updateYAMLText(old []byte, v any) ([]byte, error) {
	whole, err := encodeYAML(v)
	if err != nil {
		return nil, err
	}
	if v, err = decodeYAML(whole, nil); err != nil {
		return nil, err
	}
	doc, err := parseYAML(old)
	if err != nil {
		return nil, err
	}
	u := newYAMLUpdate(old)
	u.root = doc
	switch {
	case doc == nil:
		u.below(whole, v)
	case u.value(doc, v) != nil || u.expand() != nil:
		return whole, nil
	}
	out := u.apply()
	if got, err := decodeYAML(out, nil); err != nil || !sameDocument(got, v) {
		return whole, nil
	}
	return out, nil
}

// errSplice reports that a document cannot be changed in place.
var errSplice = errors.New("cannot be changed in place")

// A yamlUpdate collects changes of a document.
type yamlUpdate struct {
	old     []byte
	root    *yaml.Node
	eol     string // line end of the document
	lines   []int  // start of each line
	edits   []yamlEdit
	shared  bool // the document has aliases
	aliases []yamlAlias
	anchors map[*yaml.Node]any // their new values; only unchanged ones
}

// A yamlAlias is an alias and its new value.
type yamlAlias struct {
	node *yaml.Node
	v    any
}

func newYAMLUpdate(old []byte) *yamlUpdate {
	u := &yamlUpdate{old: old, eol: "\n", lines: []int{0}, shared: bytes.IndexByte(old, '*') >= 0, anchors: map[*yaml.Node]any{}}
	for i := 0; i < len(old); i++ {
		if size := lineBreak(old[i:]); size > 0 {
			i += size - 1
			u.lines = append(u.lines, i+1)
		}
	}
	if i := bytes.IndexAny(old, "\r\n"); i >= 0 && old[i] == '\r' {
		u.eol = string(old[i : i+lineBreak(old[i:])])
	}
	return u
}

// lineBreak returns the size of the line end at the start of b; the parser counts those of
// YAML 1.1.
func lineBreak(b []byte) int {
	for _, s := range []string{"\n", "\r\n", "\r", "\u0085", "\u2028", "\u2029"} {
		if bytes.HasPrefix(b, []byte(s)) {
			return len(s)
		}
	}
	return 0
}

// below writes a document at the end of a file of comments.
func (u *yamlUpdate) below(text []byte, v any) {
	if v == nil {
		return // the file reads as nil
	}
	lines := strings.ReplaceAll(string(text), "\n", u.eol)
	if end := len(u.old); u.lines[len(u.lines)-1] < end {
		lines = u.eol + lines
	}
	u.edits = append(u.edits, yamlEdit{len(u.old), len(u.old), lines})
}

// expand replaces aliases of changed or removed anchors by their values.
func (u *yamlUpdate) expand() error {
	for _, a := range u.aliases {
		if now, ok := u.anchors[a.node.Alias]; ok && sameDocument(now, a.v) {
			continue
		}
		if err := u.replace(a.node, a.v); err != nil {
			return err
		}
	}
	return nil
}

// A yamlEdit replaces some bytes by text.
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

// value collects the changes that turn a node into v.
func (u *yamlUpdate) value(n *yaml.Node, v any) error {
	if n.Kind == yaml.AliasNode {
		u.aliases = append(u.aliases, yamlAlias{n, v})
		return nil
	}
	have, err := yamlReader{}.value(n)
	if err != nil {
		return err
	}
	same := sameDocument(have, v)
	if same && !u.shared {
		return nil
	}
	if n.Anchor != "" {
		u.anchors[n] = v
	}
	switch was := have.(type) {
	case map[string]any:
		if now, ok := v.(map[string]any); ok && hasKeys(now, was) {
			return u.mapping(n, was, now)
		}
	case []any:
		if now, ok := v.([]any); ok && len(now) >= len(was) {
			return u.sequence(n, was, now)
		}
	}
	if same {
		return nil
	}
	if len(n.Content) > 0 && n == u.root {
		return errSplice
	}
	delete(u.anchors, n)
	return u.replace(n, v)
}

// hasKeys reports whether m has all keys of other.
func hasKeys(m, other map[string]any) bool {
	for k := range other {
		if _, ok := m[k]; !ok {
			return false
		}
	}
	return true
}

func (u *yamlUpdate) mapping(n *yaml.Node, was, now map[string]any) error {
	written := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Tag == "!!merge" {
			if err := u.asItIs(n.Content[i+1]); err != nil {
				return err
			}
			continue
		}
		if err := u.asItIs(n.Content[i]); err != nil {
			return err
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

// asItIs collects the anchors and aliases of an unchanged node.
func (u *yamlUpdate) asItIs(n *yaml.Node) error {
	if !u.shared {
		return nil
	}
	have, err := yamlReader{}.value(n)
	if err != nil {
		return err
	}
	return u.value(n, have)
}

func (u *yamlUpdate) sequence(n *yaml.Node, was, now []any) error {
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

// text formats a value on one line.
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

// flow formats collections between brackets.
func flow(n *yaml.Node) {
	if n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode {
		n.Style |= yaml.FlowStyle
	}
	for _, c := range n.Content {
		flow(c)
	}
}

// add appends parts to a collection; bullet precedes each part on its own line.
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
	column, err := u.column(n, bullet)
	if err != nil {
		return err
	}
	last := n.Content[len(n.Content)-1]
	end, err := u.end(last)
	if err != nil {
		return err
	}
	indent := strings.Repeat(" ", column-1) + bullet
	if end > 0 && u.old[end-1] == '\n' && blockScalar(last) { // the line after it
		u.edits = append(u.edits, yamlEdit{end, end, indent + strings.Join(added, u.eol+indent) + u.eol})
		return nil
	}
	if eol := bytes.IndexAny(u.old[end:], "\r\n"); eol >= 0 {
		end += eol
	} else {
		end = len(u.old)
	}
	u.edits = append(u.edits, yamlEdit{end, end, u.eol + indent + strings.Join(added, u.eol+indent)})
	return nil
}

// column returns the column of the parts of a block collection: of their keys, or of the
// bullets before keys and elements.
func (u *yamlUpdate) column(n *yaml.Node, bullet string) (int, error) {
	first := n.Content[0]
	line := u.old[u.lines[first.Line-1]:u.start(first)]
	switch before := bytes.TrimRight(line, " "); {
	case bullet == "" && bytes.HasSuffix(before, []byte("?")):
		return utf8.RuneCount(before), nil
	case bullet == "":
		return first.Column, nil
	case n.Anchor == "" && n.Style&yaml.TaggedStyle == 0:
		return n.Column, nil
	case string(bytes.TrimLeft(before, " ")) == "-": // an anchor or a tag is on the line above
		return len(before), nil
	}
	return 0, errSplice
}

// blockScalar reports whether the last part of a node is a block scalar.
func blockScalar(n *yaml.Node) bool {
	for n.Kind != yaml.ScalarNode && len(n.Content) > 0 && n.Style&yaml.FlowStyle == 0 {
		n = n.Content[len(n.Content)-1]
	}
	return n.Kind == yaml.ScalarNode && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
}

func (u *yamlUpdate) addInFlow(n *yaml.Node, added []string) error {
	at, text := u.content(n)+1, strings.Join(added, ", ")
	if len(n.Content) > 0 {
		var err error
		if at, err = u.end(n.Content[len(n.Content)-1]); err != nil {
			return err
		}
		if comma, ok := u.comma(at); ok {
			at = comma
		} else {
			text = ", " + text
		}
	}
	u.edits = append(u.edits, yamlEdit{at, at, text})
	return nil
}

// replace replaces a node, with its anchor and tag, by another value.
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
	case from == to: // null is empty
		if before := bytes.TrimRight(u.old[:from], " \t\r\n"); len(before) > 0 && !strings.ContainsRune(":-?,[{", rune(before[len(before)-1])) {
			from, to, text = len(before), len(before), ": "+text // and nothing precedes it
			break
		}
		text = " " + text
	case n.Style&yaml.FlowStyle == 0 && (n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode): // block style
		from = len(bytes.TrimRight(u.old[:from], " \t\r\n"))
		text = " " + text
		if blockScalar(n) {
			text += u.eol
		}
	case blockScalar(n):
		text += u.eol
	}
	u.edits = append(u.edits, yamlEdit{from, to, text})
	return nil
}

// start returns the offset of a node.
func (u *yamlUpdate) start(n *yaml.Node) int {
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

// end returns the end of a node.
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

// content returns the start of a node's text, after its anchor and tag.
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

// closing returns the end of the next closing bracket.
func (u *yamlUpdate) closing(at int) (int, error) {
	at = u.skip(at, " \t\r\n,:")
	if at < len(u.old) && (u.old[at] == '}' || u.old[at] == ']') {
		return at + 1, nil
	}
	return 0, errSplice
}

// comma returns the end of the comma, if one comes next.
func (u *yamlUpdate) comma(at int) (int, bool) {
	at = u.skip(at, " \t\r\n:")
	return at + 1, at < len(u.old) && u.old[at] == ','
}

// skip skips the given characters and comments.
func (u *yamlUpdate) skip(at int, some string) int {
	for ; at < len(u.old); at++ {
		switch c := u.old[at]; {
		case c == '#':
			eol := bytes.IndexAny(u.old[at:], "\r\n")
			if eol < 0 {
				return len(u.old)
			}
			at += eol
		case strings.IndexByte(some, c) < 0:
			return at
		}
	}
	return at
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

// plainSize returns the size of a scalar without quotes, which may span several lines: a
// line break counts as a blank, each further one as itself.
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

// endOfBlock returns the start of the first line after a block scalar: the first non-empty
// line with less indentation than the scalar's first line.
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
