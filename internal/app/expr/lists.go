package expr

import "slices"

func (m *meter) ofLists(name string, args []any) (v any, ok bool) {
	switch name {
	case "len":
		return length(args[0]), true
	case "first":
		return m.element(args[0], 0, name, true), true
	case "last":
		return m.element(args[0], -1, name, true), true
	case "get":
		return m.element(args[0], args[1], name, true), true
	case "take":
		n := wholeOf(args[1])
		if n < 0 {
			fail("take needs a number of 0 or more, not %d", n)
		}
		l := m.elements(args[0])
		n = min(n, len(l))
		return l[:n:n], true
	case "reverse":
		l := slices.Clone(m.elements(args[0]))
		slices.Reverse(l)
		return l, true
	case "concat":
		all := []any{}
		for _, a := range args {
			all = append(all, m.elements(a)...)
		}
		return all, true
	case "flatten":
		return m.flatten([]any{}, args[0]), true
	case "uniq":
		return m.distinct(args[0]), true
	case "sort":
		return m.sorted(name, m.pairs(args[0]), args[1:]), true
	case "sortBy":
		return m.sorted(name, m.elements(args[0]), args[1:]), true
	case "groupBy":
		return m.grouped(m.elements(args[0])), true
	case "fromPairs":
		return m.paired(m.elements(args[0])), true
	}
	return nil, false
}

// flatten appends the elements of a list, with nested lists flattened.
func (m *meter) flatten(to []any, list any) []any {
	for _, e := range m.elements(list) {
		if e = plain(e); kindOf(e) == listKind {
			to = m.flatten(to, e)
			continue
		}
		to = append(to, e)
	}
	return to
}

// distinct returns the elements that do not equal an earlier one.
func (m *meter) distinct(list any) []any {
	all := []any{}
	for _, e := range m.elements(list) {
		if !slices.ContainsFunc(all, func(was any) bool { return m.equal(e, was) }) {
			all = append(all, e)
		}
	}
	return all
}

// pairs returns pairs of each element with itself.
func (m *meter) pairs(list any) []any {
	l := m.elements(list)
	m.charge(2 * each * int64(len(l)))
	all := make([]any, len(l))
	for i, e := range l {
		all[i] = []any{e, e}
	}
	return all
}

// sorted returns the first values of pairs, sorted stably by the second.
func (m *meter) sorted(name string, pairs []any, order []any) []any {
	desc := false
	if len(order) > 0 {
		if order[0] != "asc" && order[0] != "desc" {
			fail(`the order of %s must be "asc" or "desc", not %q`, name, short(order[0].(string)))
		}
		desc = order[0] == "desc"
	}
	type element struct{ value, by any }
	all := make([]element, len(pairs))
	for i, p := range pairs {
		by := plain(p.([]any)[1])
		first := by
		if i > 0 {
			first = all[0].by
		}
		if _, ok := between("<", kindOf(by), kindOf(first)); !ok {
			fail("%s needs values that have an order, and %s", name, unordered(first, by))
		}
		all[i] = element{p.([]any)[0], by}
	}
	slices.SortStableFunc(all, func(a, b element) int {
		if desc {
			return m.order(b.by, a.by)
		}
		return m.order(a.by, b.by)
	})
	out := make([]any, len(all))
	for i, e := range all {
		out[i] = e.value
	}
	return out
}

func unordered(first, by any) string {
	if _, ok := between("<", kindOf(by), kindOf(by)); ok && kindOf(first) != kindOf(by) {
		return "they are " + kindName(first) + " and " + kindName(by)
	}
	return "one of them is " + kindName(by)
}

// grouped returns a mapping from the second values of pairs to lists of the first.
func (m *meter) grouped(pairs []any) any {
	groups := map[any][]any{}
	for _, p := range pairs {
		by := plain(p.([]any)[1])
		if !isName(by) {
			fail("groupBy needs strings, numbers or booleans to group by, not %s", Shown(by))
		}
		groups[by] = append(groups[by], p.([]any)[0])
	}
	all := make(map[any]any, len(groups))
	for k, v := range groups {
		all[k] = v
	}
	return byText(all)
}

// paired returns a mapping from pairs of a name and a value.
func (m *meter) paired(pairs []any) any {
	all := map[any]any{}
	for i, p := range pairs {
		if kindOf(plain(p)) != listKind || length(p) != 2 {
			fail("fromPairs needs a list of [name, value] lists, but element %d is %s", i, Shown(p))
		}
		pair := m.elements(p)
		if !isName(plain(pair[0])) {
			fail("fromPairs needs strings, numbers or booleans for names, not %s", Shown(pair[0]))
		}
		all[plain(pair[0])] = pair[1]
	}
	return byText(all)
}

// byText returns a mapping in the form of documents if its names are strings.
func byText(all map[any]any) any {
	doc := make(map[string]any, len(all))
	for k, v := range all {
		name, ok := k.(string)
		if !ok {
			return all
		}
		doc[name] = v
	}
	return doc
}
