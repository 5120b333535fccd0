package flow

// During returns options with which a run calls do at each event and waits for it.
func During(o RunOptions, do func(Event)) RunOptions {
	o.during = do
	return o
}
