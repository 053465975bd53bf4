package measure

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Process is the id of a process on this machine.
type Process int

// CPU is the processor time that the process, and the children that it has waited for,
// have used so far.
func (p Process) CPU() (time.Duration, error) {
	fields, err := p.stat()
	if err != nil {
		return 0, err
	}
	var sum int64
	for _, field := range fields[11:15] { // user and system, of itself and of its ended children
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, err
		}
		sum += ticks
	}
	return time.Duration(sum) * Tick, nil
}

// stat returns the fields of /proc/PID/stat from the state on.
func (p Process) stat() ([]string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p))
	if err != nil {
		return nil, fmt.Errorf("this system does not show the times of process %d: %w", p, err)
	}
	// The command's name, in brackets, may contain any character: fields are counted from its end.
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])), nil
}

// Proportional is the resident memory of the process in bytes, in which a page counts once although several
// mappings or processes share it. SQLite maps a file once for each connection.
func (p Process) Proportional() (int64, error) { return p.memory("smaps_rollup", "Pss:") }

// memory reads a line in KiB of a file of the process.
func (p Process) memory(file, line string) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", p, file))
	if err != nil {
		return 0, fmt.Errorf("this system does not show the memory of process %d: %w", p, err)
	}
	for l := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(l, line); ok {
			var kib int64
			_, err := fmt.Sscan(value, &kib)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("/proc/%d/%s has no %s", p, file, line)
}

// Tree returns the process and its living descendants.
func (p Process) Tree() ([]Process, error) {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	children := map[Process][]Process{}
	for _, file := range files {
		id, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			return nil, err
		}
		fields, err := Process(id).stat()
		if err != nil {
			continue // it has ended
		}
		parent, err := strconv.Atoi(fields[1])
		if err != nil {
			return nil, err
		}
		children[Process(parent)] = append(children[Process(parent)], Process(id))
	}
	tree := []Process{p}
	for i := 0; i < len(tree); i++ {
		tree = append(tree, children[tree[i]]...)
	}
	return tree, nil
}

// Usage is the CPU time and memory of a process and its descendants.
type Usage struct {
	CPU    time.Duration // so far
	Memory int64         // resident bytes; a page that several processes share counts once
}

// OwnUsage returns the usage of the process without its living descendants.
func (p Process) OwnUsage() (u Usage, err error) {
	if u.CPU, err = p.CPU(); err != nil {
		return u, err
	}
	u.Memory, err = p.Proportional()
	return u, err
}

// Usage sums the processes of the tree.
func (p Process) Usage() (u Usage, err error) {
	tree, err := p.Tree()
	if err != nil {
		return u, err
	}
	for _, process := range tree {
		used, err := process.CPU()
		if err != nil {
			continue // it has ended, and counts as its parent's
		}
		resident, err := process.Proportional()
		if err != nil && process == p {
			return u, err
		}
		u.CPU += used
		u.Memory += resident
	}
	return u, nil
}

// Listener is the process on this machine that accepts connections to a TCP port; 0: no
// process, or one of another user.
func Listener(port int) (Process, error) {
	sockets := map[string]bool{}
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, err := os.ReadFile(file)
		if err != nil {
			return 0, fmt.Errorf("this system does not show its sockets: %w", err)
		}
		for line := range strings.Lines(string(text)) {
			const listening = "0A"
			f := strings.Fields(line)
			if len(f) > 9 && f[3] == listening && strings.HasSuffix(f[1], fmt.Sprintf(":%04X", port)) {
				sockets["socket:["+f[9]+"]"] = true
			}
		}
	}
	open, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return 0, err
	}
	for _, descriptor := range open {
		if name, err := os.Readlink(descriptor); err == nil && sockets[name] {
			id, err := strconv.Atoi(strings.Split(descriptor, "/")[2])
			return Process(id), err
		}
	}
	return 0, nil
}
