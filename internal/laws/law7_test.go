package laws

var explained = law{
	shows: map[string]string{
		"cli.TestWhyAndTreeOfLazyValues":       "so they do of values that a program made",
		"key.TestDiff":                         "whatever one thing differs between two actions is named, from what to what",
		"key.TestEveryKeyDifferenceIsNamed":    "whenever two keys differ, so do the parts that are told",
		"key.TestParts":                        "an action lists its operation, code, parameters, arguments and inputs",
		"explain.TestNearest":                  "a miss is compared with the result that differs least",
		"explain.TestRecordLooksAtEarlierOnes": "a kept result is compared with those before it",
		"explain.TestCodeIsComparedByParts":    "a change of code is told declaration by declaration",
		"explain.TestTreeText":                 "a result is followed back to what it was made from",
		"lazy.TestWhy":                         "of a tree, the function and the component that differ are told",
		"flow.TestPlanSaysWhatAndWhy":          "a dry run says of every node how many samples it would compute, and why",
		"cli.TestWhyOfFlow":                    "larder why names the part that differs",
		"cli.TestTreeOfFlow":                   "larder tree shows what a result was made from",
	},
	mutations: []mutation{
		{"a result is kept without what it was made from", "do.go", "Payload: payload, Cost: v.cost, Provenance: provenance(c.Action, v.reads)}", "Payload: payload, Cost: v.cost}", []string{"lazy.TestWhy"}},
		{"so it is in a flow", "do.go", "Payload: payload, Cost: v.cost, Provenance: provenance(c.Action, v.reads)}", "Payload: payload, Cost: v.cost}", []string{"flow.TestPlanSaysWhatAndWhy"}},
		{"a change is told by its text alone", "key/diff.go", "if was.Digest != p.Digest {", "if was.Value != p.Value {", []string{"key.TestEveryKeyDifferenceIsNamed"}},
		{"what was removed is not told", "key/diff.go", "			changes = append(changes, Change{Old: p})\n", "", []string{"key.TestDiff"}},
		{"parameters are not described", "key/action.go", "		op.params = appendParts(op.params, ParamPart, p.Name, p.Value)\n", "		_ = p\n", []string{"key.TestParts"}},
		{"inputs are not described", "key/part.go", "		parts = append(parts, inputPart(in))\n", "		_ = inputPart(in)\n", []string{"key.TestParts"}},
		{"any earlier result is taken for the nearest", "explain/explain.go", "return len(a) < len(b)", "return len(a) > len(b)", []string{"explain.TestNearest"}},
		{"later results are looked at, too", "explain/explain.go", "!before.IsZero() && !info.Created.Before(before)", "!before.IsZero() && info.Key == own", []string{"explain.TestRecordLooksAtEarlierOnes"}},
		{"a declaration that changed is not told", "explain/explain.go", "		if same < 0 {\n", "		if same > len(was) {\n", []string{"explain.TestCodeIsComparedByParts"}},
		{"why does not look below", "lazy/why.go", "				queue = append(queue, a)\n", "				_ = a\n", []string{"lazy.TestWhy"}},
		{"a flow forgets what it used", "flow/manifest.go", "	m.used[index] = u\n", "", []string{"flow.TestPlanSaysWhatAndWhy"}},
		{"a tree ends at its root", "explain/tree.go", "			from = append(from, keyIn(s, in))\n", "			_ = in\n", []string{"cli.TestWhyAndTreeOfLazyValues"}},
	},
}
