package tamis.peers;

/**
 * A library under comparison.
 *
 * @param <E> an event in the form that the library wants
 * @param <A> an answer in the form that the library gives
 */
public interface Peer<E, A> {

    /** Take a subscription. */
    void add(int id, Predicate[] predicates) throws Exception;

    /** Finish building. */
    void ready() throws Exception;

    /** Prepare an event; not timed. */
    E event(int[] values) throws Exception;

    /** Match an event; timed. */
    A match(E event) throws Exception;

    /** The ids in an answer; not timed. */
    int[] ids(A answer);

    /** Between two halves of the warm-up: whatever the library offers to learn from what it has seen. */
    default void warmed() {}
}
