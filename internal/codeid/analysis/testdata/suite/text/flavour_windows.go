package text

func separator() string { return `\` }
