package expr

import "slices"

// function is the type of functions with a fast call in the virtual machine.
type function = func(args ...any) any

// do executes the operation that the first argument names.
func (m *meter) do(args ...any) any {
	what, args := args[0].(string), args[1:]
	for i, a := range args {
		args[i] = plain(a)
	}
	m.charge(each)
	switch what {
	case "+":
		return m.add(args[0], args[1])
	case "-":
		return subtract(args[0], args[1])
	case "*":
		return multiply(args[0], args[1])
	case "/", "%", "**", "..":
		return m.arithmetic(what, args[0], args[1])
	case "==":
		return m.equal(args[0], args[1])
	case "!=":
		return !m.equal(args[0], args[1])
	case "<", "<=", ">", ">=":
		return m.compares(what, args[0], args[1])
	case "in":
		return m.in(args[0], args[1])
	case "contains", "startsWith", "endsWith", "matches":
		return m.searches(what, args[0], args[1])
	case negateName:
		return negate(args[0])
	case numberName:
		return isNumber("+", args[0])
	case notName:
		return !isTruth("not", args[0])
	case conditionName:
		return isTruth(args[0].(string), args[1])
	case isNullName:
		return args[0] == nil
	case readName:
		m.all(args[0])
		return args[0]
	}
	return m.reads(what, args)
}

// reads executes operations that read parts of values, or calls a function.
func (m *meter) reads(what string, args []any) any {
	switch what {
	case memberName:
		return member(args[0], args[1].(string), args[2].(string))
	case mayName:
		return mayMember(args[0], args[1].(string), args[2].(string))
	case elementName:
		return m.element(args[0], args[1], args[2].(string), false)
	case elementMay:
		return m.element(args[0], args[1], args[2].(string), true)
	case sliceName:
		return m.slice(args)
	case listName:
		if s := signatures[args[0].(string)]; kindOf(args[1]) != listKind {
			fail("%s", s.accepts(args[0].(string), 0, kindOf(args[1]), kindName(args[1])))
		}
		return m.elements(args[1])
	case keyName:
		if _, ok := args[0].(string); !ok {
			fail("%s", wrongName(kindName(args[0])))
		}
		return args[0]
	case matchedName:
		return m.matched(args[0], args[1].(int))
	case methodName:
		return m.method(args[0], args[1].(string), args[2:])
	}
	return m.call(what, args)
}

// isTruth returns a boolean operand of an operator or a function.
func isTruth(what string, v any) bool {
	b, ok := v.(bool)
	if !ok {
		fail("%s", mustBeTruth(what, kindName(v)))
	}
	return b
}

// cheap are the functions that read at most a part of their arguments.
var cheap = []string{"len", "type", "first", "last", "get"}

func (m *meter) call(name string, args []any) any {
	s := signatures[name]
	if text := s.counts(name, len(args)); text != "" && name != "sortBy" && name != "groupBy" {
		fail("%s", text)
	}
	for i, a := range args {
		if name == "sortBy" && i == 1 {
			i++ // the sort keys came with the elements
		}
		if k := kindOf(a); k&s.at(i) == 0 {
			fail("%s", s.accepts(name, i, k, kindName(a)))
		}
	}
	if !slices.Contains(cheap, name) {
		for _, a := range args {
			m.all(a)
		}
	}
	if v, ok := ordered(name, args); ok {
		return v
	}
	if v, ok := m.ofNumbers(name, args); ok {
		return v
	}
	if v, ok := m.ofTexts(name, args); ok {
		return v
	}
	if v, ok := m.ofLists(name, args); ok {
		return v
	}
	if v, ok := m.converts(name, args); ok {
		return v
	}
	return language(name, args)
}
