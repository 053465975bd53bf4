package target

import (
	"time"

	"hippocampus/cmd/bench/measure"
)

// Process is the server's process.
func (s *Server) Process() measure.Process { return measure.Process(s.cmd.Process.Pid) }

// CPU is the processor time that the server has used so far.
func (s *Server) CPU() (time.Duration, error) { return s.Process().CPU() }

// Memory returns the memory of the server.
func (s *Server) Memory() (measure.Memory, error) { return s.Process().Memory() }
