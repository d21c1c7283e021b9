/* The step protocol of a guard (model/README.md): one partition, one key, and owners that follow
 * each other. Each owner calls handlers, and commits their results.
 *
 * An owner that crashes is one that is never scheduled again; one that is scheduled late is a
 * zombie. It does not know that another has taken over until Kafka refuses it, or until its own
 * process tells it (at any time, or never).
 *
 * Bounds, overridden by -D: */
#ifndef EVENTS
#define EVENTS 2
#endif
#ifndef OWNERS
#define OWNERS 2     /* how often the partition is taken over */
#endif
#ifndef FAULTS
#define FAULTS 1     /* answers to a commit that get lost */
#endif
#ifndef FAILURES
#define FAILURES 1   /* handlers that fail */
#endif
#ifndef SPILLS
#define SPILLS 1     /* handlers that are still running when their step ends */
#endif

/* Broken on purpose, by -D: NO_EPOCH, TRUST_STATE, READ_BEFORE_INIT, SPILL_WITHOUT_ROW,
 * START_BEHIND_RUNNING, DRAIN_TO_LOG_END.
 * ALL_LEAVE: an owner that is replaced has left the group. Otherwise it may still be a member, with
 * the current generation: after a rebalance that took only this partition away.
 * To show how far the model comes, by -D: SHOW_RUNNING_TAKEN_OVER, SHOW_TWO_HANDLERS. */

#define ACTIVE 0
#define PARKED 1     /* the guard's own hold stands until the next try */
#define DRAINING 2   /* the first row is tried, or will be */

/* What one transaction commits. Source offsets `drained` and `last` are one past. */
typedef Position {
  byte offset;
  byte step;
  byte owner;
  byte state;      /* of the key */
  byte start;      /* where its rows begin in held */
  byte drained;    /* drained through, one past */
  byte last;       /* the last event that was appended to held, one past; 0: none */
  bit running      /* the first row is with a handler since an earlier step */
}

/* ---- Kafka ---- */

byte events;               /* end of the source; each event is of the key */
#define ROWS (2 * EVENTS)
byte held[ROWS];           /* source offsets */
byte held_end;
byte held_seen;            /* the last stable offset, as readers see it: may be behind */
byte out[EVENTS];          /* how often the record that the event's handler sends is committed */
Position committed;
byte generation;           /* of the group */
byte holder;               /* who initialised the transactional id last; all others are fenced */
byte pending;              /* whose transaction is open, with its offsets sent; 0: none */

byte faults = FAULTS, failures = FAILURES, spills = SPILLS;
byte owners;
byte with_handler[EVENTS]; /* calls that run */

/* ---- promises ---- */

bit G1_lost, G1_twice, G2_started_early, came_here;
hidden byte x, y;
hidden byte found;

inline copy(to, from) {
  to.offset = from.offset; to.step = from.step; to.owner = from.owner; to.state = from.state;
  to.start = from.start; to.drained = from.drained; to.last = from.last; to.running = from.running
}

#define same(p, q) (p.offset == q.offset && p.step == q.step && p.owner == q.owner)

/* Each event taken is handled, or a row of held that the entry will come to. */
inline check_nothing_lost() {
  x = 0;
  do
  :: x < committed.offset ->
    found = (out[x] > 0);
    y = 0;
    do
    :: y < held_end && !found ->
      found = (held[y] == x && committed.state != ACTIVE && y >= committed.start &&
               x >= committed.drained);
      y++
    :: else -> break
    od;
    G1_lost = G1_lost || !found;
    x++
  :: else -> break
  od;
  assert(!G1_lost)
}

/* An event starts only after every earlier one of its key: handled, or ended well in this process. */
inline check_start(event) {
  x = 0;
  do
  :: x < event -> G2_started_early = G2_started_early || (out[x] == 0 && !(done & (1 << x))); x++
  :: else -> break
  od;
  assert(!G2_started_early);
#ifdef SHOW_TWO_HANDLERS
  came_here = (with_handler[event] > 0);
  assert(!came_here);
#endif
  with_handler[event]++
}

/* ---- one step ---- */

inline apply_step() {
  pending = 0;
  x = 0;
  do
  :: x < EVENTS ->
    if
    :: handled & (1 << x) -> G1_twice = G1_twice || (out[x] > 0); out[x]++
    :: else
    fi;
    x++
  :: else -> break
  od;
  assert(!G1_twice);
  x = hold_from;
  do
  :: x < hold_to && held_end < ROWS -> held[held_end] = x; held_end++; x++
  :: else -> break
  od;
  copy(committed, next);
  check_nothing_lost()
}

#define COMMITTED 1
#define UNKNOWN 2
#define LOST 3
#define SENT 4

#define is_stable (!pending)

#ifdef NO_EPOCH
#define is_fenced 0
#define can_commit (pending == me)
#else
#define is_fenced (holder != me)
#define can_commit (pending == me && holder == me)
#endif

#ifdef ALL_LEAVE
#define is_member (joined == generation)
#else
#define is_member 1
#endif

/* Takes the transactional id: aborts what is open under it, and fences who had it. */
inline initialise() {
#ifdef NO_EPOCH
  if
  :: pending == me -> pending = 0
  :: else
  fi
#else
  holder = me; pending = 0
#endif
}

/* Commits the step once. After any error: a new epoch, then compare, then act. */
inline commit_step() {
  do
  :: told -> result = LOST; break
  :: !told ->
    /* The offsets are sent with the member's generation... */
    atomic {
      (is_fenced || !is_member || is_stable) ->
      if
      :: is_fenced -> result = UNKNOWN
      :: !is_fenced && !is_member -> result = LOST
      :: !is_fenced && is_member -> pending = me; result = SENT
      fi
    };
    /* ...and then the transaction is committed, unless another has aborted it. */
    atomic {
      if
      :: result == SENT && can_commit ->
        d_step { apply_step(); result = COMMITTED };
        if
        :: skip
        :: faults > 0 -> faults--; result = UNKNOWN
        fi
      :: result == SENT && !can_commit -> result = UNKNOWN
      :: else
      fi
    };
    if
    :: result == UNKNOWN && !told ->
      atomic { initialise() };
#ifndef TRUST_STATE
      atomic { is_stable -> d_step {
        if
        :: same(committed, next) -> result = COMMITTED
        :: !same(committed, next) && same(committed, mine) -> skip
        :: else -> result = LOST
        fi
      } };
#endif
      if
      :: result != UNKNOWN -> break
      :: else
      fi
    :: else -> break
    fi
  od;
  skip;
  d_step {
    if
    :: result == COMMITTED -> copy(mine, next)
    :: else
    fi;
    handled = 0; hold_from = 0; hold_to = 0
  }
}

inline begin_step() {
  copy(next, mine); next.step++; next.owner = me
}

inline append_to_held(from, upto) {
  hold_from = from; hold_to = upto; next.last = upto
}

inline end_drain_if_empty() {
#ifdef DRAIN_TO_LOG_END
  found = (y + 1 >= held_seen);
#else
  found = (next.last <= next.drained);
#endif
  if
  :: found -> next.state = ACTIVE; next.start = 0; next.drained = 0
  :: else
  fi
}

#define SUCCEEDS 1
#define FAILS 2
#define RUNS_ON 3

/* The handler is called with the event, and ends, or runs on after the step. */
inline call_handler(event) {
  d_step { check_start(event) };
  atomic {
    if
    :: outcome = SUCCEEDS; done = done | (1 << event); with_handler[event]--
    :: failures > 0 -> failures--; outcome = FAILS; with_handler[event]--
    :: spills > 0 -> spills--; outcome = RUNS_ON
    fi
  }
}

/* Fresh events go to the handler until one does not succeed: that one and all later ones wait. */
inline take_events(upto) {
  at = mine.offset;
#ifdef START_BEHIND_RUNNING
  do
  :: at < upto && (next.state == ACTIVE || (next.running && head)) ->
#else
  do
  :: at < upto && next.state == ACTIVE ->
#endif
    call_handler(at);
    d_step {
      if
      :: outcome == SUCCEEDS -> handled = handled | (1 << at); at++
      :: else ->
        next.state = (outcome == FAILS -> PARKED : DRAINING);
        next.running = (outcome == RUNS_ON);
        next.start = held_seen; next.drained = at;
        head = (outcome == RUNS_ON -> at + 1 : 0)
      fi
    }
  :: else -> break
  od;
  skip;
  d_step {
    if
#ifdef SPILL_WITHOUT_ROW
    :: at < upto && next.running && !mine.running -> append_to_held(at + 1, upto)
    :: at < upto && !(next.running && !mine.running) -> append_to_held(at, upto)
#else
    :: at < upto -> append_to_held(at, upto)
#endif
    :: else
    fi;
    next.offset = upto; at = 0
  }
}

/* What became of the first row: it leaves held, waits for its next try, or still runs. */
inline settle_row(event) {
  d_step {
    if
    :: outcome == SUCCEEDS ->
      handled = handled | (1 << event);
      next.running = 0; next.drained = event + 1; head = 0;
      end_drain_if_empty()
    :: outcome == FAILS -> next.running = 0; next.state = PARKED; head = 0
    :: outcome == RUNS_ON -> next.running = 1; head = event + 1
    fi
  }
}

inline find_first_row() {
  y = mine.start;
  do
  :: y < held_seen && held[y] < mine.drained -> y++
  :: else -> break
  od
}

proctype Owner(byte me, joined) {
  Position mine, next;
  byte handled, hold_from, hold_to;
  byte done;       /* handlers of these events have succeeded in this process */
  byte head;       /* the event that is with the handler since an earlier step, one past; 0: none */
  byte outcome, result, at, upto;
  bit told;        /* its own process knows that the partition was given away */

#ifdef READ_BEFORE_INIT
  atomic { is_stable -> d_step { copy(mine, committed) } };
  atomic { initialise() };
#else
  atomic { initialise() };
  atomic { is_stable -> d_step { copy(mine, committed) } };
#endif
  d_step {
    begin_step();
#ifdef SHOW_RUNNING_TAKEN_OVER
    came_here = next.running;
    assert(!came_here);
#endif
    next.running = 0       /* the first row is tried again */
  };
  commit_step();
  do
  :: result != COMMITTED || told -> break
  :: result == COMMITTED && !told && me < owners -> told = 1
  :: result == COMMITTED && !told && mine.offset < events ->
    atomic {
      upto = events;
      do
      :: upto > mine.offset + 1 -> upto--
      :: break
      od;
      begin_step()
    };
    take_events(upto);
    commit_step()
  /* The next try of a parked key is due. */
  :: atomic { result == COMMITTED && !told && mine.state == PARKED ->
      d_step { begin_step(); next.state = DRAINING } };
    commit_step()
  /* A handler that ran on has ended. Its row must be readable. */
  :: atomic { result == COMMITTED && !told && head && mine.running ->
      find_first_row();
      if
      :: y < held_seen ->
        d_step { begin_step() };
        if
        :: outcome = SUCCEEDS; done = done | (1 << (head - 1))
        :: failures > 0 -> failures--; outcome = FAILS
        fi;
        at = held[y]; with_handler[at]--;
        settle_row(at)
      :: else -> next.step = 255
      fi };
    if
    :: next.step != 255 -> commit_step()
    :: else -> held_seen == held_end; next.step = 0
    fi
  /* The first row of a key is tried. */
  :: atomic { result == COMMITTED && !told && mine.state == DRAINING && !mine.running ->
      find_first_row();
      if
      :: y < held_seen -> at = held[y]; d_step { begin_step() }
      :: else -> next.step = 255
      fi };
    if
    :: next.step != 255 ->
      call_handler(at);
      atomic { find_first_row(); settle_row(at) };
      commit_step()
    :: else -> held_seen == held_end; next.step = 0
    fi
  od
}

/* ---- the world ---- */

active proctype World() {
  do
  :: events < EVENTS -> events++
  :: held_seen < held_end -> held_seen = held_end
  /* The group gives the partition to another worker. */
  :: atomic { owners < OWNERS -> owners++; generation++; run Owner(owners, generation) }
  /* A transaction that nobody ends is aborted by its time-out. */
  :: atomic { pending -> pending = 0; holder = 0 }
  od
}
