package target

import (
	"cmp"
	"fmt"
	"os"
	"sync"
	"time"

	"hippocampus/cmd/bench/measure"
)

// Watch reads the usage of the processes of a measurement.
type Watch struct {
	watched []*watched
	begin   time.Time
	end     chan struct{}
	wait    sync.WaitGroup
	failed  error
}

type watched struct {
	name        string
	usage       func() (measure.Usage, error)
	first, last measure.Usage
	memory      int64 // the most
}

// Process is the usage of one process.
type Process struct {
	Name   string  `json:"name"`
	Cores  float64 `json:"cores"`              // CPU seconds a second
	CPU    float64 `json:"cpu_ms_per_request"` // of requests, or of turns
	Memory int64   `json:"proportional_bytes"` // the most that was seen; each page counts once
}

// readings is the time between two readings.
const readings = 5 * time.Second

// NewWatch watches servers, their stores if they run on this machine, and this process.
func NewWatch(servers []*Server) (*Watch, error) {
	w := &Watch{end: make(chan struct{}), begin: time.Now()}
	for i, server := range servers {
		name := "server"
		if len(servers) > 1 {
			name = fmt.Sprint("server ", i+1)
		}
		w.watched = append(w.watched, &watched{name: name, usage: server.Process().Usage})
	}
	stores, err := servers[0].Stores.Processes()
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"Postgres", "Milvus"} {
		if process, found := stores[name]; found {
			w.watched = append(w.watched, &watched{name: name, usage: process.Usage})
		}
	}
	w.watched = append(w.watched, &watched{name: "bench", usage: measure.Process(os.Getpid()).OwnUsage})
	if err := w.read(); err != nil {
		return nil, err
	}
	for _, p := range w.watched {
		p.first = p.last
	}
	w.wait.Go(func() {
		ticker := time.NewTicker(readings)
		defer ticker.Stop()
		for {
			select {
			case <-w.end:
				return
			case <-ticker.C:
				w.failed = cmp.Or(w.failed, w.read())
			}
		}
	})
	return w, nil
}

func (w *Watch) read() (err error) {
	for _, p := range w.watched {
		if p.last, err = p.usage(); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		p.memory = max(p.memory, p.last.Memory)
	}
	return nil
}

// Stop ends the watch, and returns the usage of each process for a number of requests.
func (w *Watch) Stop(requests int) ([]Process, error) {
	close(w.end)
	w.wait.Wait()
	took := time.Since(w.begin)
	if err := cmp.Or(w.failed, w.read()); err != nil {
		return nil, err
	}
	list := make([]Process, len(w.watched))
	for i, p := range w.watched {
		used := (p.last.CPU - p.first.CPU).Seconds()
		list[i] = Process{
			Name: p.name, Cores: used / took.Seconds(), CPU: used * 1000 / float64(max(1, requests)), Memory: p.memory,
		}
	}
	return list, nil
}
