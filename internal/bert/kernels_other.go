//go:build !amd64

package bert

func fastest() kernels { return portable() }
