package tables

func init() { order = append(order, "cut") }
