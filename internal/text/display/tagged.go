package display

import "fmt"

// Tagged returns the name of a YAML value in messages, from its tag, without !!, and
// the text of a scalar.
func Tagged(tag, text string) string {
	switch tag {
	case "seq":
		return "a list"
	case "map":
		return "a mapping"
	case "null":
		return "nothing"
	case "int", "float":
		return "the number " + Short(text)
	case "bool":
		return "the boolean " + Short(text)
	}
	return fmt.Sprintf("the string %q", Short(text))
}
