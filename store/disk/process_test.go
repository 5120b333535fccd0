package disk

func childRole() func() { return nil }
