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
	said := err.Error()
	if strings.HasPrefix(said, "unexpected end") {
		const one = "the line ends before its value does"
		if first := bytes.TrimLeft(text, blanks); len(first) > 0 && (first[0] == '[' || first[0] == '{') {
			return errors.New(one + ": write each value on one line, as jq -c . does, or jq -c '.[]' with each element of a list")
		}
		return errors.New(one)
	}
	m := invalidCharacter.FindStringSubmatch(said)
	switch {
	case m == nil:
		return errors.New("this is not JSON")
	case strings.HasPrefix(m[2], "after top-level") && m[1] == "','":
		return errors.New("a comma follows after the value: write one value on each line, with no comma and no [ ] around them")
	case strings.HasPrefix(m[2], "after top-level"):
		return errors.New("more follows after the value: write each value on a line of its own")
	case (m[1] == "'N'" || m[1] == "'I'") && (strings.HasPrefix(m[2], "looking for beginning of value") || m[2] == "in numeric literal"):
		return errors.New(m[1] + " where a value should be: JSON has no NaN, Infinity or None; write null, as DataFrame.to_json does")
	case strings.HasPrefix(m[2], "looking for beginning of value"):
		return errors.New(m[1] + " where a value should be")
	case strings.HasPrefix(m[2], "exceeded"):
		return errors.New("lists and objects lie in each other too deep")
	case strings.HasPrefix(m[2], "looking for beginning of object key"):
		return errors.New(m[1] + " where the name of a field should be, in double quotes")
	}
	return errors.New(m[1] + " cannot stand here")
}
