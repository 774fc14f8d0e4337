// called.h: an ordering policy that tells a MutantPort which line called it.
#pragma once

#include "tests/mutation/plan.h"
#include "transport/port.h"

namespace ringpost::mutation {

template <class Ordering>
struct Called {
  static constexpr const char* kName = Ordering::kName;
  static constexpr Scope kScope = Ordering::kScope;

  template <class P>
  static void Release(P& port, const QpView& qp, Caller caller = Caller::Here()) {
    port.SetCaller(caller, "Release");
    Ordering::Release(port, qp);
    port.SetCaller({}, "");
  }
  template <class P>
  static void StoreRecord(P& port, const QpView& qp, uint32_t n, Caller caller = Caller::Here()) {
    port.SetCaller(caller, "StoreRecord");
    Ordering::StoreRecord(port, qp, n);
    port.SetCaller({}, "");
  }
  template <class P>
  static void Ring(P& port, const QpView& qp, uint64_t value, Caller caller = Caller::Here()) {
    port.SetCaller(caller, "Ring");
    Ordering::Ring(port, qp, value);
    port.SetCaller({}, "");
  }
  template <class P>
  static void MarkReady(P& port, const QpView& qp, uint64_t from, uint64_t to,
                        Caller caller = Caller::Here()) {
    port.SetCaller(caller, "MarkReady");
    Ordering::MarkReady(port, qp, from, to);
    port.SetCaller({}, "");
  }
  template <class P>
  static void Unlock(P& port, const QpView& qp, Caller caller = Caller::Here()) {
    port.SetCaller(caller, "Unlock");
    Ordering::Unlock(port, qp);
    port.SetCaller({}, "");
  }
  template <class P>
  static void TakeTurn(P& port, const QpView& qp, Caller caller = Caller::Here()) {
    port.SetCaller(caller, "TakeTurn");
    Ordering::TakeTurn(port, qp);
    port.SetCaller({}, "");
  }
  template <class P>
  static void Acquire(P& port, const QpView& qp, Caller caller = Caller::Here()) {
    port.SetCaller(caller, "Acquire");
    Ordering::Acquire(port, qp);
    port.SetCaller({}, "");
  }
};

}  // namespace ringpost::mutation
