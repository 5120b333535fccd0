package mutation

var onlyAsked = law{
	shows: map[string]string{
		".TestEarlyCutoffIsNoted":                    "after early cutoff, the value is found under the first key, and no input is requested",
		"lazy.TestSecondRunReadsOneRecord":           "a tree whose root is cached reads one record, and none of its arguments",
		"lazy.TestIfEvaluatesOneBranch":              "only the branch of `If` that is taken is computed",
		"lazy.TestDeepAndWide":                       "the depth and width of a tree take no stack",
		"lazy.TestEarlyCutoff":                       "a change that leaves an input equal stops there, and the next lookup finds the link",
		".TestEarlyCutoff":                           "a change that leaves an input equal stops there, and the next lookup finds the link",
		".TestCachedOnlyComputesNothing":             "a lookup of cached results alone returns them and computes nothing",
		"dataset.TestMapRunsWhenItsItemIsRead":       "a mapper runs when an item that it computes is read, and not before",
		"dataset.TestMapChainReadsOneRecordWhenWarm": "a chain of cached mappers reads only the record of the last one",
		"dataset.TestFileIsNotReadBefore":            "a file is not opened before its item is read",
		"op.TestMapIfIsLazy":                         "the condition of `map-if` is evaluated when the sample is requested",
		"flow.TestHugeVirtualDataset":                "a dataset that is only an order takes no memory",
		"flow.TestPlanSaysWhatAndWhy":                "a dry run computes nothing",
	},
	mutations: []mutation{
		{"do not look up the root before its arguments", "lazy/eval.go", "	done, err := v.find(ctx, t, true)\n", "	done, err := false, context.Cause(ctx)\n", []string{"lazy.TestSecondRunReadsOneRecord"}},
		{"do not store the link of early cutoff", "resolve.go", "	if link != nil {\n		l.put(ctx, *link)\n	}\n", "	_ = link\n", []string{".TestEarlyCutoffIsNoted"}},
		{"compute although the inputs have their old content", "resolve.go", "	r, err := resolved.Do(ctx, l)\n	if err != nil {\n		return outcome{}, err\n	}\n", "	o0, err := resolved.compute(ctx, l, resolved.Action.Key())\n	if err != nil {\n		return outcome{}, err\n	}\n	r, err := c.result(o0.entry, o0.from)\n	if err != nil {\n		return outcome{}, err\n	}\n", []string{".TestEarlyCutoff"}},
		{"compute in a dry lookup", "do.go", "	if IsCachedOnly(ctx) {\n		return c.findCachedOnly(ctx, l)\n	}\n", "", []string{".TestCachedOnlyComputesNothing"}},
		{"run a mapper when its sample is requested", "dataset/map.go", "	if makes == nil {\n		out, err", "	if _, err := e.sample(ctx); err != nil {\n		return Sample{}, err\n	}\n	if makes == nil {\n		out, err", []string{"dataset.TestMapRunsWhenItsItemIsRead"}},
		{"compute an item to get its key", "dataset/output.go", "	a, err := p.execution.Action(ctx)\n	if err != nil {\n		return key.Ref{}, err\n	}\n	return key.Result(a.Key(), p.name), nil\n", "	d, err := p.Digest(ctx)\n	return key.Content(d), err\n", []string{"dataset.TestMapChainReadsOneRecordWhenWarm"}},
		{"compute in a dry run", "flow/plan.go", "	ctx = larder.CachedOnly(ctx)\n	p, err := f.plan(ctx, o)\n	if err != nil {\n		return nil, err\n	}\n	plan :=", "	p, err := f.plan(ctx, o)\n	if err != nil {\n		return nil, err\n	}\n	plan :=", []string{"flow.TestPlanSaysWhatAndWhy"}},
	},
}
