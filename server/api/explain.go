package api

import (
	"hippocampus/recall"
	"hippocampus/server/frame"
)

// partsBody is the JSON of recall.Parts.
type partsBody struct {
	Similarity float64 `json:"similarity"`
	Lexical    float64 `json:"lexical"`
	Neighbour  float64 `json:"neighbour"`
	Speaker    float64 `json:"speaker"`
	Date       float64 `json:"date"`
	When       float64 `json:"when"`
	ToDo       float64 `json:"to_do"`
	Routed     float64 `json:"routed"`
	Question   float64 `json:"question"`
	Message    float64 `json:"message"`
	Skill      float64 `json:"skill"`
	Rerank     float64 `json:"rerank"`
	Decay      float64 `json:"decay"`
	Importance float64 `json:"importance"`
	Update     float64 `json:"update"`
}

// explanationBody states how an answer was found.
type explanationBody struct {
	Mode       recall.Mode   `json:"mode"`
	Weights    weightsBody   `json:"weights"`
	DecayRate  float64       `json:"decay_rate"`
	Limit      int           `json:"candidate_limit"`
	Memories   int           `json:"memories"`
	Matching   int           `json:"matching"`
	Candidates int           `json:"candidates"`
	LeftOut    []omittedBody `json:"left_out"`
	Stages     []stageBody   `json:"stages"`
}

// omittedBody is a candidate without a place in the answer.
type omittedBody struct {
	Reason recall.Reason `json:"reason"`
	By     string        `json:"by,omitempty"`
	Memory recalledBody  `json:"memory"`
}

type stageBody struct {
	Stage   string  `json:"stage"`
	StartMS float64 `json:"start_ms"`
	TookMS  float64 `json:"took_ms"`
}

func explanationOf(e *recall.Explanation) *explanationBody {
	if e == nil {
		return nil
	}
	return &explanationBody{
		Mode: e.Mode, Weights: weightsBody(e.Weights), DecayRate: e.DecayRate, Limit: e.Limit,
		Memories: e.Memories, Matching: e.Matching, Candidates: e.Candidates,
		LeftOut: frame.BodiesOf(e.LeftOut, func(l recall.LeftOut) omittedBody {
			return omittedBody{Reason: l.Reason, By: l.By, Memory: recalledOf(l.Recalled)}
		}),
		Stages: frame.BodiesOf(e.Stages, func(s recall.Stage) stageBody {
			return stageBody{Stage: s.Name, StartMS: milliseconds(s.Start), TookMS: milliseconds(s.Took)}
		}),
	}
}
