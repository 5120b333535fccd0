package tables

func init() { order = append(order, "measure") }
