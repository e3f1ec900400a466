package faults

// steer has all servers use one member of etcd: they stay with one as long as it does not fail them.
func steer(f *fleet, w *workload, member int) {
	for _, s := range f.servers {
		for i, link := range s.links {
			if i != member {
				link.cut()
			}
		}
	}
	for i := range f.servers {
		w.awaitChanges(i)
	}
	for _, s := range f.servers {
		for _, link := range s.links {
			link.mend()
		}
	}
}

// part judges that all servers take changes by the other members when the one that they use is parted
// from these.
func part(f *fleet, w *workload, victim int, how func()) {
	steer(f, w, victim)
	how()
	for i := range f.servers {
		w.awaitChanges(i)
	}
	w.awaitProgress(someUpdates)
}

// isolate cuts a member of etcd off from the others. Every other time nobody is told.
func isolate(f *fleet, w *workload, victim, number int) {
	how := []func(*proxy){(*proxy).cut, (*proxy).hold}[number%2]
	part(f, w, victim, func() { f.peers.isolate(victim, how) })
}

// silence keeps what a member says from the others. The member follows a leader that tells it nothing
// new, for want of its answers.
func silence(f *fleet, w *workload, victim int) {
	part(f, w, victim, func() {
		for _, other := range othersOf(victim) {
			f.peers.mute(victim, other)
		}
	})
}

// deafen keeps what the others say from a member.
func deafen(f *fleet, w *workload, victim int) {
	part(f, w, victim, func() {
		for _, other := range othersOf(victim) {
			f.peers.mute(other, victim)
		}
	})
}

// separate keeps a member and another from hearing each other. The third hears both.
func separate(f *fleet, w *workload, victim, other int) {
	part(f, w, victim, func() {
		f.peers.mute(victim, other)
		f.peers.mute(other, victim)
	})
}

// othersOf returns the members of etcd but one.
func othersOf(number int) [size - 1]int {
	return [size - 1]int{(number + 1) % size, (number + 2) % size}
}
