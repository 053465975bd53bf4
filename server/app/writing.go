package app

import (
	"hippocampus/conversation/session"
	"hippocampus/forgetting"
	"hippocampus/ingest"
	"hippocampus/knowledge/facts"
	"hippocampus/knowledge/instructions"
	"hippocampus/knowledge/skills"
	"hippocampus/reflection"
	"hippocampus/reflection/derivation"
	"hippocampus/router"
)

// writing is what changes memories.
type writing struct {
	ingest       *ingest.Service
	session      *session.Service
	derivation   *derivation.Service
	reflection   *reflection.Service
	forgetting   *forgetting.Service
	facts        *facts.Service
	instructions *instructions.Service
	skills       *skills.Service
}

func openWriting(b base, s *stores, m *models) *writing {
	w := &writing{
		session: session.New(session.Parts{
			Records: s.record, Chat: m.chat, Now: b.now, Log: b.log.Named("session"),
		}, sessionSettings(b.cfg)),
		derivation:   derivation.New(s.record, s.pusher, s.embedder, b.now),
		forgetting:   forgetting.New(s.record, s.pusher, forgettingSettings(b.cfg), b.now, b.log.Named("forgetting")),
		instructions: instructions.New(s.record, b.now),
	}
	w.reflection = reflection.New(reflection.Parts{
		Records: s.record, Derive: w.derivation, Chat: m.chat,
		Now: b.now, Log: b.log.Named("reflection"),
	}, reflectionSettings(b.cfg))
	w.ingest = ingest.New(ingest.Parts{
		Records: s.record, Scorer: m.scorer, Judge: m.judge, Embedder: s.embedder, Vectors: s.vectors, Pusher: s.pusher,
		Guess:     router.GuessByLexemes,
		Accepted:  w.session.OnTurnAccepted,
		Processed: w.session.OnTurnProcessed,
		Written:   w.reflection.MemoriesChanged,
		Grown:     w.forgetting.MemoriesAdded,
		Now:       b.now, Log: b.log.Named("ingest"),
	}, ingestSettings(b.cfg))
	w.facts = facts.New(facts.Parts{
		Records: s.record, Embedder: s.embedder, Pusher: s.pusher, Guess: router.Guess,
		OnChanged: w.reflection.MemoriesChanged, OnAdded: w.forgetting.MemoriesAdded, Now: b.now,
	}, b.cfg.Facts.Trust)
	w.skills = skills.New(skills.Parts{
		Records: s.record, Embedder: s.embedder, Pusher: s.pusher, Guess: router.Guess,
		OnChanged: w.reflection.MemoriesChanged, OnAdded: w.forgetting.MemoriesAdded, Now: b.now,
	})
	b.life.run("reflection", w.reflection.Run)
	b.life.run("turns", w.ingest.Run)
	b.life.run("dispatch", w.ingest.Dispatch)
	b.life.run("workers", w.ingest.Work)
	return w
}
