package mutation

var onlyAsked = law{
	shows: map[string]string{
		".TestEarlyCutoffIsNoted":                    "after that, the value is found under the first key, and no input is asked for",
		"lazy.TestSecondRunReadsOneRecord":           "a warm root reads one record, and not its ancestors",
		"lazy.TestIfEvaluatesOneBranch":              "of two branches, the one that is taken is computed",
		"lazy.TestDeepAndWide":                       "depth and width of a tree take no stack",
		"lazy.TestEarlyCutoff":                       "a change that comes to nothing stops there",
		".TestEarlyCutoff":                           "so it does for the mechanism, and the next look finds the link",
		".TestCachedOnlyComputesNothing":             "a dry look hands out what is kept and computes nothing",
		"dataset.TestMapRunsWhenItsItemIsRead":       "a mapper runs when an item that it makes is read, and not before",
		"dataset.TestMapChainReadsOneRecordWhenWarm": "of a chain of mappers that is warm, the last one's record is read",
		"dataset.TestFileIsNotReadBefore":            "a file is not opened before its item is read",
		"op.TestMapIfIsLazy":                         "a condition is looked at when the sample is asked for",
		"flow.TestHugeVirtualDataset":                "a dataset that is an order takes no memory",
		"flow.TestPlanSaysWhatAndWhy":                "a plan computes nothing",
	},
	mutations: []mutation{
		{"the root is not looked for before its ancestors", "lazy/eval.go", "	done, err := v.find(ctx, t, true)\n", "	done, err := false, context.Cause(ctx)\n", []string{"lazy.TestSecondRunReadsOneRecord"}},
		{"a link to an old value is not kept", "resolve.go", "	if link != nil {\n		l.put(ctx, *link)\n	}\n", "	_ = link\n", []string{".TestEarlyCutoffIsNoted"}},
		{"inputs that came out as before are not noticed", "resolve.go", "	r, err := resolved.Do(ctx, l)\n	if err != nil {\n		return outcome{}, err\n	}\n", "	o0, err := resolved.compute(ctx, l, resolved.Action.Key())\n	if err != nil {\n		return outcome{}, err\n	}\n	r, err := c.result(o0.entry, o0.from)\n	if err != nil {\n		return outcome{}, err\n	}\n", []string{".TestEarlyCutoff"}},
		{"a dry look computes", "do.go", "	if IsCachedOnly(ctx) {\n		return c.findCachedOnly(ctx, l)\n	}\n", "", []string{".TestCachedOnlyComputesNothing"}},
		{"a mapper runs when its sample is asked for", "dataset/map.go", "	if makes == nil {\n		out, err", "	if _, err := e.sample(ctx); err != nil {\n		return Sample{}, err\n	}\n	if makes == nil {\n		out, err", []string{"dataset.TestMapRunsWhenItsItemIsRead"}},
		{"an item is computed to be named", "dataset/output.go", "	a, err := p.execution.Action(ctx)\n	if err != nil {\n		return key.Ref{}, err\n	}\n	return key.Result(a.Key(), p.name), nil\n", "	d, err := p.Digest(ctx)\n	return key.Content(d), err\n", []string{"dataset.TestMapChainReadsOneRecordWhenWarm"}},
		{"a plan computes", "flow/plan.go", "	ctx = larder.CachedOnly(ctx)\n	p, err := f.plan(ctx, o)\n	if err != nil {\n		return nil, err\n	}\n	plan :=", "	p, err := f.plan(ctx, o)\n	if err != nil {\n		return nil, err\n	}\n	plan :=", []string{"flow.TestPlanSaysWhatAndWhy"}},
	},
}
