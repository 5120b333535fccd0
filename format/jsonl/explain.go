package jsonl

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
)

// invalidCharacter matches the parser's error for invalid input.
var invalidCharacter = regexp.MustCompile(`^invalid character ('.+') (.*)$`)

// explain returns an error for a line that is not JSON.
func explain(text []byte, err *json.SyntaxError) error {
	message := err.Error()
	if strings.HasPrefix(message, "unexpected end") {
		const one = "the line ends inside a value"
		if first := bytes.TrimLeft(text, blanks); len(first) > 0 && (first[0] == '[' || first[0] == '{') {
			return errors.New(one + "; write each value on one line (jq -c ., or jq -c '.[]' for a list)")
		}
		return errors.New(one)
	}
	m := invalidCharacter.FindStringSubmatch(message)
	switch {
	case m == nil:
		return errors.New("not JSON")
	case strings.HasPrefix(m[2], "after top-level") && m[1] == "','":
		return errors.New("comma after the value; write one value on each line, without [ ] and commas")
	case strings.HasPrefix(m[2], "after top-level"):
		return errors.New("data after the value; write each value on its own line")
	case (m[1] == "'N'" || m[1] == "'I'") && (strings.HasPrefix(m[2], "looking for beginning of value") || m[2] == "in numeric literal"):
		return errors.New("unexpected " + m[1] + ", expected a value; write null for NaN, Infinity and None (DataFrame.to_json)")
	case strings.HasPrefix(m[2], "looking for beginning of value"):
		return errors.New("unexpected " + m[1] + ", expected a value")
	case strings.HasPrefix(m[2], "exceeded"):
		return errors.New("lists and objects are nested too deep")
	case strings.HasPrefix(m[2], "looking for beginning of object key"):
		return errors.New("unexpected " + m[1] + ", expected a field name in double quotes")
	}
	return errors.New("unexpected " + m[1])
}
